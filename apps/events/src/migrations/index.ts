import type { MigrationClass } from '@perkway/platform';
import { CreateFeed1767225700000 } from './1767225700000-create-feed.js';
import { CreateWebhooks1767225800000 } from './1767225800000-create-webhooks.js';
import { ClaimDeliveriesByLease1767225900000 } from './1767225900000-claim-deliveries-by-lease.js';
import { FindTimesByPosition1767226000000 } from './1767226000000-find-times-by-position.js';

export const migrations: MigrationClass[] = [
  CreateFeed1767225700000,
  CreateWebhooks1767225800000,
  ClaimDeliveriesByLease1767225900000,
  FindTimesByPosition1767226000000,
];
