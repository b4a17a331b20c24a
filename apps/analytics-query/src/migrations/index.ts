import type { MigrationClass } from '@perkway/platform';
import { CreateEventStore1767225700000 } from './1767225700000-create-event-store.js';
import { ScaleEventStore1767225800000 } from './1767225800000-scale-event-store.js';
import { CoverRollups1767225900000 } from './1767225900000-cover-rollups.js';
import { NoteDerivedJourneys1767226000000 } from './1767226000000-note-derived-journeys.js';
import { AddLinkReference1767226100000 } from './1767226100000-add-link-reference.js';
import { ErasedJourneys1767226200000 } from './1767226200000-erased-journeys.js';

import { PeopleOfPerkViews1767226400000 } from './1767226400000-people-of-perk-views.js';

export const migrations: MigrationClass[] = [
  CreateEventStore1767225700000,
  ScaleEventStore1767225800000,
  CoverRollups1767225900000,
  NoteDerivedJourneys1767226000000,
  AddLinkReference1767226100000,
  ErasedJourneys1767226200000,
  PeopleOfPerkViews1767226400000,
];
