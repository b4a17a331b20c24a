import { acceptPlainJson, type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { BoostEnv } from './env.js';
import { allowJourneyOrigins } from './journey/cors.js';
import { migrations } from './migrations/index.js';
import { renderBoostError } from './outreach/render-boost-error.js';

export const defineApp = (env: BoostEnv): AppDefinition => ({
  name: 'boost',
  module: AppModule,
  migrations,
  env,
  openapi: {
    title: 'Perkway Boost',
    description:
      'Campaigns, tracked reward URLs and tracking pixels for messages that the client sends, and the customer journey.',
    url: env.BOOST_URL,
    examples: { campaignId: 'ostervale-spring-travel', perkId: 'fernway-weekend', token: 'AQJrMVsi-example' },
  },
  hasRpcHandlers: true,
  errors: renderBoostError,
  // Clicks and pixels of known campaigns work without the database, from memory.
  health: { needsDatabase: false },
  configure: (app) => {
    allowJourneyOrigins(app);
    acceptPlainJson(app.getHttpAdapter().getInstance(), '/track/:campaignId');
  },
});
