import type { MigrationClass } from '@perkway/platform';
import { CreateTrackingOutbox1767225600000 } from '@perkway/tracking';

export const migrations: MigrationClass[] = [CreateTrackingOutbox1767225600000];
