import { bootstrap, loadEnv } from '@perkway/platform';
import { defineApp } from './app.js';
import { giftCardsEnv } from './env.js';

await bootstrap(() => defineApp(loadEnv(giftCardsEnv)));
