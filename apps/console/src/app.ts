import { type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { ConsoleEnv } from './env.js';
import { migrations } from './migrations/index.js';
import { addSecurityHeaders } from './site/security-headers.js';
import { serveAssets } from './site/assets.js';

export const defineApp = (env: ConsoleEnv): AppDefinition => ({
  name: 'console',
  module: AppModule,
  migrations,
  env,
  openapi: {
    title: 'Perkway console',
    description:
      'The admin app: what the pages of the console ask of their own host. A session is a cookie; calls that change something need the `Origin` of the console. Not for integrators, who have the API of the other hosts.',
    url: env.CONSOLE_URL,
    examples: {
      keyId: '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11',
    },
    // No exception from the policy of this origin: its pages are one.
    withPage: false,
  },
  configure: async (app) => {
    addSecurityHeaders(app.getHttpServer(), env.CONSOLE_URL);
    await serveAssets(app, env.ASSETS_FOLDER);
  },
});
