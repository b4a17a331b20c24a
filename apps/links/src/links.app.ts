import { setupOpenApi, type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import { renderLinkError } from './clicks/error-pages.js';
import { loadLinksEnv, type LinksEnv } from './env.js';

export const linksApp = (env: LinksEnv = loadLinksEnv()): AppDefinition => ({
  name: 'links',
  module: AppModule.register(env),
  env,
  errors: renderLinkError,
  // Its tables are an outbox only: clicks go on without them.
  health: { needsDatabase: false },
  configure: (app) =>
    setupOpenApi(app, 'Perkway links', 'Redeem links of perks: each use is a click and leads to the offer.'),
});
