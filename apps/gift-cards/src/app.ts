import { acceptStreams, renderPlainCode, renderProblem, type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { GiftCardsEnv } from './env.js';
import { migrations } from './migrations/index.js';
import { CARD_LOAD_ROUTES, CARD_LOAD_TYPES } from './loads/loads.controller.js';
import { limitSlowBodies } from './slow-bodies.js';

const ADMIN = /^\/admin(?:[/?]|$)/;

/** Enough to load millions of cards over a slow connection. */
const REQUEST_TIMEOUT_MS = 6 * 60 * 60_000;

export const defineApp = (env: GiftCardsEnv): AppDefinition => ({
  name: 'gift-cards',
  module: AppModule,
  migrations,
  env,
  openapi: {
    title: 'Perkway gift cards',
    description:
      'Pools of gift cards and the single-use links that give one away. An error response is its code as plain text; under `/admin` it is problem details (RFC 9457).',
    url: env.GIFT_URL,
    examples: {
      poolId: '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10',
      linkId: '5d0f0c7e-3f1c-8b52-9c07-6a1d2f4e8b90',
      limitId: 'monthly-budget',
      month: '2026-10',
      withdrawalId: '9d3e1b7a-4c52-8f06-a1d8-3e7f5b2c6a90',
      loadId: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c',
      idempotencyKey: '3f0d4c9e-8a11-4a57-b8c0-1f2e3d4c5b6a',
    },
  },
  // The management API uses problem details like every other app; everything else uses the plain codes of the
  // specification.
  errors: (error, requestId, requested) =>
    (ADMIN.test(requested?.address ?? '') ? renderProblem : renderPlainCode)(error, requestId, requested),
  hasRpcHandlers: true,
  requestTimeout: REQUEST_TIMEOUT_MS,
  configure: (app) => {
    const fastify = app.getHttpAdapter().getInstance();
    acceptStreams(fastify, CARD_LOAD_TYPES, CARD_LOAD_ROUTES);
    limitSlowBodies(fastify);
  },
});
