import { setupOpenApi, type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import { loadTokenIssuerEnv } from './env.js';

/** The token host, from its environment. */
export function tokenIssuerApp(source?: NodeJS.ProcessEnv): AppDefinition {
  const env = loadTokenIssuerEnv(source);
  return {
    name: 'token-issuer',
    env,
    module: AppModule.register(env),
    answersRequests: true,
    configure: (app) =>
      setupOpenApi(app, 'Perkway tokens', 'Accounts, their API keys, and tokens for the query host.'),
  };
}
