import { type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import { allowReadersOrigins } from './collection-reads/cors.js';
import type { PerksEnv } from './env.js';
import { migrations } from './migrations/index.js';

/** Fits a load of 50,000 coupon codes of 80 characters, and a collection of thousands of perks. */
const BODY_LIMIT = 4 * 1024 * 1024;

export const defineApp = (env: PerksEnv): AppDefinition => ({
  name: 'perks',
  module: AppModule,
  migrations,
  env,
  openapi: {
    title: 'Perkway perk collections',
    description: 'Perks for an account to show, their single-use codes, and management of the catalogue.',
    url: env.PERKS_URL,
    examples: { collectionId: 'ostervale-travel', perkId: 'quillon-third-night', id: 1 },
  },
  hasRpcHandlers: true,
  bodyLimit: BODY_LIMIT,
  configure: allowReadersOrigins,
  // Once started, the app serves reads from memory, so an outage of the database must not take it out of the load
  // balancer.
  health: { needsDatabase: 'once' },
});
