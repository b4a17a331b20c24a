import { bootstrap } from '@perkway/platform';
import { analyticsQueryApp } from './app.js';
import { loadAnalyticsQueryEnv } from './env.js';

await bootstrap(() => analyticsQueryApp(loadAnalyticsQueryEnv()));
