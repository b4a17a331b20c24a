export { accessOf } from './access.js';
export { AdminLogModule } from './admin-log/admin-log.module.js';
export { CreateAdminLogOutbox1767226090000 } from './admin-log/create-admin-log-outbox.js';
export * from './api-key.dto.js';
export * from './api-keys.js';
export * from './auth.module.js';
export {
  AllowQueryKey,
  ChangesNothing,
  CurrentCaller,
  RequiredScope,
  Roles,
  type AuthenticatedRequest,
} from './decorators.js';
export { KeyRateLimiter } from './key-rate-limiter.js';
export { allowListedOrigins } from './listed-origins.js';
export { KeyStore, type KeyResolver } from './key-store.js';
export { KeyUseReporter, type KeyUseRecorder } from './key-use-reporter.js';
