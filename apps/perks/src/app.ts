import { type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import { allowReadersOrigins } from './collection-reads/cors.js';
import type { PerksEnv } from './env.js';
import { migrations } from './migrations/index.js';

/** The largest body is a load of coupon codes or a collection of thousands of perks. */
const BODY_LIMIT = 4 * 1024 * 1024;

export const defineApp = (env: PerksEnv): AppDefinition => ({
  name: 'perks',
  module: AppModule,
  migrations,
  env,
  openapi: {
    title: 'Perkway perk collections',
    description: 'Perks for an account to show, their single-use codes, and the management of the catalogue.',
    url: env.PERKS_URL,
    examples: { collectionId: 'ostervale-travel', perkId: 'quillon-third-night', id: 1 },
  },
  answersRequests: true,
  bodyLimit: BODY_LIMIT,
  configure: allowReadersOrigins,
  // Once it has started it serves what it knows without a database; out of the balancer it would serve nothing.
  health: { needsDatabase: 'once' },
});
