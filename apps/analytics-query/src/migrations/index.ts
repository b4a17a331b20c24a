import type { MigrationClass } from '@perkway/platform';
import { CreateEventStore1767225700000 } from './1767225700000-create-event-store.js';
import { ScaleEventStore1767225800000 } from './1767225800000-scale-event-store.js';
import { CoverRollups1767225900000 } from './1767225900000-cover-rollups.js';

export const migrations: MigrationClass[] = [
  CreateEventStore1767225700000,
  ScaleEventStore1767225800000,
  CoverRollups1767225900000,
];
