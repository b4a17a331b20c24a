import { type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { TokenIssuerEnv } from './env.js';
import { migrations } from './migrations/index.js';

export const defineApp = (env: TokenIssuerEnv): AppDefinition => ({
  name: 'token-issuer',
  module: AppModule,
  migrations,
  env,
  openapi: {
    title: 'Perkway tokens',
    description: 'Accounts, their API keys, and tokens for the query host.',
    url: env.TOKEN_URL,
    examples: {
      accountId: 'ostervale-bank',
      email: 'ann@ostervale-bank.example',
      erasureId: '7a3c1f0e-2b64-4a0e-9d0c-5f6a7b8c9d10',
      keyId: '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11',
    },
  },
  hasRpcHandlers: true,
});
