import { acceptStreams, renderPlainCode, setupOpenApi, type AppDefinition } from '@perkway/platform';
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
  errors: renderPlainCode,
  answersRequests: true,
  requestTimeout: REQUEST_TIMEOUT_MS,
  configure: (app) => {
    const fastify = app.getHttpAdapter().getInstance();
    acceptStreams(fastify, CARD_LOAD_TYPES, CARD_LOAD_ROUTE);
    limitSlowBodies(fastify);
    setupOpenApi(
      app,
      'Perkway gift cards',
      'Pools of gift cards and the single-use links that give one away. An error is its code as plain text.',
    );
  },
});
