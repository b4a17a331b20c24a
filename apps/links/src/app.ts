import { setupOpenApi, type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import { renderLinkError } from './clicks/render-link-error.js';
import type { LinksEnv } from './env.js';

export const defineApp = (env: LinksEnv): AppDefinition => ({
  name: 'links',
  module: AppModule,
  env,
  errors: renderLinkError,
  configure: (app) =>
    setupOpenApi(app, 'Perkway links', 'Redeem links of perks: each use is a click and leads to the offer.'),
});
