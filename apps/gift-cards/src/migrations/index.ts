import type { MigrationClass } from '@perkway/platform';
import { CreateTrackingOutbox1767225600000 } from '@perkway/tracking';
import { CreateGiftCards1767225610000 } from './1767225610000-create-gift-cards.js';
import { ViewsAndFunctions1767225620000 } from './1767225620000-views-and-functions.js';

export const migrations: MigrationClass[] = [
  CreateTrackingOutbox1767225600000,
  CreateGiftCards1767225610000,
  ViewsAndFunctions1767225620000,
];
