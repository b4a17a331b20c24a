import { CreateAdminLogOutbox1767226090000 } from '@perkway/auth';
import type { MigrationClass } from '@perkway/platform';
import { CreateTrackingOutbox1767225600000 } from '@perkway/tracking';
import { CreateCampaigns1767225700000 } from './1767225700000-create-campaigns.js';
import { IndexCampaignsByOwner1767225710000 } from './1767225710000-index-campaigns-by-owner.js';

export const migrations: MigrationClass[] = [
  CreateTrackingOutbox1767225600000,
  CreateCampaigns1767225700000,
  IndexCampaignsByOwner1767225710000,
  CreateAdminLogOutbox1767226090000,
];
