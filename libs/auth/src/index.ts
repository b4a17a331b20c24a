export { accessOf } from './access.js';
export * from './auth.module.js';
export { AllowQueryKey, CurrentCaller, Roles, type AuthenticatedRequest } from './decorators.js';
export * from './generate-api-key.js';
export * from './hash-api-key.js';
export { allowListedOrigins } from './listed-origins.js';
export { KeyStore, type KeyResolver } from './key-store.js';
export { KeyUseReporter, type KeyUseRecorder } from './key-use-reporter.js';
