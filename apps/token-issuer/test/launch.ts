import { loadEnv, runMigrations } from '@perkway/platform';
import {
  launchApp,
  testDatabase,
  testEnvironment,
  testSecrets,
  type TestEnvironment,
} from '@perkway/testing';
import request from 'supertest';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';

export const migrate = (url: string) => runMigrations(url, 'token-issuer', migrations);

/** A database of its own for the test file. */
export const tokenIssuerDatabase = () => testDatabase('token-issuer', migrate);

export const launchTokenIssuer = (given: TestEnvironment, variables: Record<string, string> = {}) =>
  launchApp(defineApp(loadEnv(envSpec, { ...testEnvironment('token-issuer', given), ...variables })));

export const ADMIN_KEY = testSecrets().adminKey;

export type Method = 'get' | 'put' | 'post' | 'delete' | 'head';

/** Calls one app: `as(key)` gives requests with that key. */
export const client = (url: string) => ({
  as: (key: string) => (method: Method, path: string) => request(url)[method](path).set('X-API-Key', key),
  anonymous: (method: Method, path: string) => request(url)[method](path),
});
export type Client = ReturnType<typeof client>;
