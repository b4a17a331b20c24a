import { CreateAdminLogOutbox1767226090000 } from '@perkway/auth';
import type { MigrationClass } from '@perkway/platform';
import { CreateTrackingOutbox1767225600000 } from '@perkway/tracking';
import { CreateGiftCards1767225610000 } from './1767225610000-create-gift-cards.js';
import { Products1767225630000 } from './1767225630000-products.js';
import { RewardLinkLife1767225640000 } from './1767225640000-reward-link-life.js';
import { PoolsAreUpdated1767225650000 } from './1767225650000-pools-are-updated.js';
import { Limits1767225660000 } from './1767225660000-limits.js';
import { LifeOfACard1767225670000 } from './1767225670000-life-of-a-card.js';
import { Statements1767225690000 } from './1767225690000-statements.js';
import { LoadTimes1767225691000 } from './1767225691000-load-times.js';
import { AgesOfValues1767225692000 } from './1767225692000-ages-of-values.js';
import { CancelledLinks1767225693000 } from './1767225693000-cancelled-links.js';
import { NamesOfLoads1767225694000 } from './1767225694000-names-of-loads.js';
import { ViewsAndFunctions } from './views-and-functions.js';

export const migrations: MigrationClass[] = [
  CreateTrackingOutbox1767225600000,
  CreateGiftCards1767225610000,
  Products1767225630000,
  RewardLinkLife1767225640000,
  PoolsAreUpdated1767225650000,
  Limits1767225660000,
  LifeOfACard1767225670000,
  Statements1767225690000,
  LoadTimes1767225691000,
  AgesOfValues1767225692000,
  CancelledLinks1767225693000,
  NamesOfLoads1767225694000,
  CreateAdminLogOutbox1767226090000,
  ViewsAndFunctions,
];
