import { loadEnv, runMigrations } from '@perkway/platform';
import {
  launchApp,
  testDatabase,
  testEnvironment,
  testSecrets,
  type TestEnvironment,
} from '@perkway/testing';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';

export const migrate = (url: string) => runMigrations(url, 'token-issuer', migrations);

/** Creates a migrated database for one test file. */
export const tokenIssuerDatabase = () => testDatabase('token-issuer', migrate);

export const launchTokenIssuer = (given: TestEnvironment, variables: Record<string, string> = {}) =>
  launchApp(defineApp(loadEnv(envSpec, { ...testEnvironment('token-issuer', given), ...variables })));

export const ADMIN_KEY = testSecrets().adminKey;
