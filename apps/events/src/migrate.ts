import { migrateFromEnvironment } from '@perkway/platform';
import { migrations } from './migrations/index.js';

await migrateFromEnvironment('events', migrations);
