import { loadEnv } from '@perkway/platform';
import { checkErasureInOutbox, launchApp, testEnvironment } from '@perkway/testing';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';

it('removes a customer of one account from waiting events, and keeps the same id in another account', () =>
  checkErasureInOutbox('boost', migrations, (given) =>
    launchApp(defineApp(loadEnv(envSpec, testEnvironment('boost', given)))),
  ));
