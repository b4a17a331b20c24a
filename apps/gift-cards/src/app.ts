import { acceptStreams, renderPlainCode, type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { GiftCardsEnv } from './env.js';
import { CARD_LOAD_ROUTE, CARD_LOAD_TYPES } from './loads/loads.controller.js';
import { limitSlowBodies } from './slow-bodies.js';

/** A load of millions of cards over a slow line. */
const REQUEST_TIMEOUT_MS = 6 * 60 * 60_000;

export const defineApp = (env: GiftCardsEnv): AppDefinition => ({
  name: 'gift-cards',
  module: AppModule,
  env,
  openapi: {
    title: 'Perkway gift cards',
    description:
      'Pools of gift cards and the single-use links that give one away. An error is its code as plain text.',
    url: env.GIFT_URL,
    examples: {
      poolId: '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10',
      loadId: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c',
      idempotencyKey: '3f0d4c9e-8a11-4a57-b8c0-1f2e3d4c5b6a',
    },
  },
  errors: renderPlainCode,
  answersRequests: true,
  requestTimeout: REQUEST_TIMEOUT_MS,
  configure: (app) => {
    const fastify = app.getHttpAdapter().getInstance();
    acceptStreams(fastify, CARD_LOAD_TYPES, CARD_LOAD_ROUTE);
    limitSlowBodies(fastify);
  },
});
