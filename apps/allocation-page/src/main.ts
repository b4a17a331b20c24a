import { bootstrap, loadEnv } from '@perkway/platform';
import { fileURLToPath } from 'node:url';
import { defineApp } from './app.js';
import { allocationPageEnv } from './env.js';

await bootstrap(() =>
  defineApp(loadEnv(allocationPageEnv), fileURLToPath(new URL('./public', import.meta.url))),
);
