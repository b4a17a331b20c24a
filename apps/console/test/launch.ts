import { loadEnv, runMigrations } from '@perkway/platform';
import { launchApp, testDatabase, testEnvironment, type TestEnvironment } from '@perkway/testing';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';

export const migrate = (url: string) => runMigrations(url, 'console', migrations);

/** Starts the console on a database of the test file's own. */
export const consoleDatabase = () => testDatabase('console', migrate);

export const launchConsole = (given: TestEnvironment, variables: Record<string, string> = {}) =>
  launchApp(defineApp(loadEnv(envSpec, { ...testEnvironment('console', given), ...variables })));
