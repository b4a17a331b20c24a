import type { MigrationClass } from '@perkway/platform';
import { CreateSessions1767225700000 } from './1767225700000-create-sessions.js';
import { CreateAuditLog1767225710000 } from './1767225710000-create-audit-log.js';

export const migrations: MigrationClass[] = [CreateSessions1767225700000, CreateAuditLog1767225710000];
