import { bootstrap } from '@perkway/platform';
import { defineApp } from './app.js';
import { envSpec } from './env.js';

await bootstrap(envSpec, defineApp);
