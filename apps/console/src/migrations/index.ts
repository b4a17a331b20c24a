import type { MigrationClass } from '@perkway/platform';
import { CreateSessions1767225700000 } from './1767225700000-create-sessions.js';

export const migrations: MigrationClass[] = [CreateSessions1767225700000];
