import type { AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { EventsEnv } from './env.js';
import { migrations } from './migrations/index.js';

export const defineApp = (env: EventsEnv): AppDefinition => ({
  name: 'events',
  module: AppModule,
  migrations,
  env,
  openapi: {
    title: 'Perkway events',
    description: 'Everything that happens to an account, as one ordered feed.',
    url: env.EVENTS_URL,
    examples: { eventId: 'Zk3vR1tq8XwYb2nLp0sHdA', webhookId: 'orders' },
  },
  hasRpcHandlers: true,
});
