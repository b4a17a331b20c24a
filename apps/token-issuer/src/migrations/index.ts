import type { MigrationClass } from '@perkway/platform';
import { CreateAccounts1767225600000 } from './1767225600000-create-accounts.js';

export const migrations: MigrationClass[] = [CreateAccounts1767225600000];
