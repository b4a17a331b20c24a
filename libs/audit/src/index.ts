export { audit, type Audit, type AuditOptions } from './audit.js';
