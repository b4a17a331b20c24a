export * from './auth.module.js';
export { AllowQueryKey, CurrentCaller, Roles, type AuthenticatedRequest } from './decorators.js';
export * from './hash-api-key.js';
export { KeyStore, type KeyResolver } from './key-store.js';
