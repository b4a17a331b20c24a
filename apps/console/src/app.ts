import { acceptStreams, type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { ConsoleEnv } from './env.js';
import { UPLOAD_ROUTE } from './proxy/proxy.controller.js';
import { migrations } from './migrations/index.js';
import { addSecurityHeaders } from './site/security-headers.js';
import { serveAssets } from './site/assets.js';
import { compressResponses } from './site/compression.js';

/** Content types of card files, which stream through to the gift-card service. */
const UPLOAD_TYPES = ['application/x-ndjson', 'text/csv'];
/** Allows such a file over a slow connection. */
const REQUEST_TIMEOUT_MS = 10 * 60_000;

export const defineApp = (env: ConsoleEnv): AppDefinition => ({
  name: 'console',
  module: AppModule,
  migrations,
  env,
  openapi: {
    title: 'Perkway console',
    description:
      "The admin app: the API that the console's own pages call. A session is a cookie; calls other than GET and HEAD need the `Origin` of the console. Not for integrators, who use the API of the other hosts.",
    url: env.CONSOLE_URL,
    examples: {
      accountId: 'ostervale-bank',
      keyId: '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11',
      jobId: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c',
      reportId: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c',
      questionId: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c',
    },
    // The page `/docs` needs inline styles, which the content security policy of the console does not allow.
    withPage: false,
  },
  hasRpcHandlers: true,
  requestTimeout: REQUEST_TIMEOUT_MS,
  configure: async (app) => {
    addSecurityHeaders(app.getHttpServer(), env.CONSOLE_URL);
    acceptStreams(app.getHttpAdapter().getInstance(), UPLOAD_TYPES, [UPLOAD_ROUTE]);
    await compressResponses(app);
    await serveAssets(app, env.ASSETS_FOLDER);
  },
});
