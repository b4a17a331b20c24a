import type { AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import { renderLinkError } from './clicks/render-link-error.js';
import type { LinksEnv } from './env.js';
import { migrations } from './migrations/index.js';

export const defineApp = (env: LinksEnv): AppDefinition => ({
  name: 'links',
  module: AppModule,
  migrations,
  env,
  openapi: {
    title: 'Perkway links',
    description: 'Click URLs of perks: each use records a click and redirects to the offer.',
    url: env.LINKS_URL,
    examples: { token: 'AWsxAAAAAAAAAZskUQyAR3kq-example' },
  },
  hasRpcHandlers: true,
  errors: renderLinkError,
  // The database only holds the outbox.
  health: { needsDatabase: false },
});
