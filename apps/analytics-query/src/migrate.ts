import { migrateFromEnvironment } from '@perkway/platform';
import { migrations } from './migrations/index.js';
import { writeReportingViews } from './reporting/reporting-views.js';

await migrateFromEnvironment('analytics-query', migrations, writeReportingViews);
