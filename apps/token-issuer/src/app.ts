import { setupOpenApi, type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { TokenIssuerEnv } from './env.js';

export const defineApp = (env: TokenIssuerEnv): AppDefinition => ({
  name: 'token-issuer',
  module: AppModule,
  env,
  answersRequests: true,
  configure: (app) =>
    setupOpenApi(app, 'Perkway tokens', 'Accounts, their API keys, and tokens for the query host.'),
});
