import { CreateAdminLogOutbox1767226090000 } from '@perkway/auth';
import type { MigrationClass } from '@perkway/platform';
import { CreateAccounts1767225600000 } from './1767225600000-create-accounts.js';
import { JourneyKeys1767225601000 } from './1767225601000-journey-keys.js';
import { ConsoleKeys1767225800000 } from './1767225800000-console-keys.js';
import { PeopleAndUsesOfKeys1767225700000 } from './1767225700000-people-and-uses-of-keys.js';
import { ErasuresAskedAgain1767226050000 } from './1767226050000-erasures-asked-again.js';
import { Erasures1767225900000 } from './1767225900000-erasures.js';
import { IndexOrigins1767226070000 } from './1767226070000-index-origins.js';
import { KeyScopesAndRotation1767226080000 } from './1767226080000-key-scopes-and-rotation.js';
import { Approvals1767226095000 } from './1767226095000-approvals.js';

export const migrations: MigrationClass[] = [
  CreateAccounts1767225600000,
  JourneyKeys1767225601000,
  PeopleAndUsesOfKeys1767225700000,
  ConsoleKeys1767225800000,
  Erasures1767225900000,
  ErasuresAskedAgain1767226050000,
  IndexOrigins1767226070000,
  KeyScopesAndRotation1767226080000,
  Approvals1767226095000,
  CreateAdminLogOutbox1767226090000,
];
