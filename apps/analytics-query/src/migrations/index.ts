import type { MigrationClass } from '@perkway/platform';
import { CreateEventStore1767225700000 } from './1767225700000-create-event-store.js';

export const migrations: MigrationClass[] = [CreateEventStore1767225700000];
