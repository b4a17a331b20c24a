import { bootstrap } from '@perkway/platform';
import { analyticsQueryApp } from './analytics-query.app.js';
import { loadAnalyticsQueryEnv } from './env.js';

await bootstrap(() => analyticsQueryApp(loadAnalyticsQueryEnv()));
