import { CreateAdminLogOutbox1767226090000 } from '@perkway/auth';
import type { MigrationClass } from '@perkway/platform';
import { CreateTrackingOutbox1767225600000 } from '@perkway/tracking';
import { CreateCatalog1767225700000 } from './1767225700000-create-catalog.js';
import { CreateCouponCodes1767225800000 } from './1767225800000-create-coupon-codes.js';
import { TimesOfWhatIsManaged1767225900000 } from './1767225900000-times-of-what-is-managed.js';
import { CodesPerAccount1767226000000 } from './1767226000000-codes-per-account.js';

export const migrations: MigrationClass[] = [
  CreateTrackingOutbox1767225600000,
  CreateCatalog1767225700000,
  CreateCouponCodes1767225800000,
  TimesOfWhatIsManaged1767225900000,
  CodesPerAccount1767226000000,
  CreateAdminLogOutbox1767226090000,
];
