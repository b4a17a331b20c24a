import {
  renderLinkPage,
  renderProblem,
  setupOpenApi,
  type AppDefinition,
  type ErrorRenderer,
} from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { LinksEnv } from './env.js';

/**
 * A person opens a click_url, so whatever is wrong with one is a page: 404, or 503 when it is not known where it leads.
 * Elsewhere on this host it is problem details.
 */
const renderLinkError: ErrorRenderer = (error, requestId, address) =>
  address && /^\/c(?:[/?]|$)/.test(address)
    ? renderLinkPage({ status: error.status >= 500 ? 503 : 404 })
    : renderProblem(error, requestId);

export const defineApp = (env: LinksEnv): AppDefinition => ({
  name: 'links',
  module: AppModule,
  env,
  errors: renderLinkError,
  configure: (app) =>
    setupOpenApi(app, 'Perkway links', 'Redeem links of perks: each use is a click and leads to the offer.'),
});
