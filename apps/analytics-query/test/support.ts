import type { NatsConnection } from '@nats-io/transport-node';
import { jetstream } from '@nats-io/jetstream';
import {
  GET_ANALYTICS_KEYS,
  TRACKING_EVENT_VERSION,
  TRACKING_REPLAY_SUBJECT,
  type PublicJwk,
  type TrackingEvent,
} from '@perkway/domain';
import { loadEnv, runMigrations } from '@perkway/platform';
import {
  connectTo,
  respond,
  anAccountId,
  closeAll,
  http,
  launchApp,
  runCitusWorkers,
  testDatabase,
  testDatabaseServer,
  testEnvironment,
  testNats,
  waitFor,
  type RpcResponder,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import jwt from 'jsonwebtoken';
import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';
import { writeReportingViews } from '../src/reporting/reporting-views.js';

export { anAccountId };

export const migrate = (url: string) =>
  runMigrations(url, 'analytics-query', migrations, writeReportingViews);
export const analyticsDatabase = (): Promise<TestDatabase> => testDatabase('analytics-query', migrate);
export const analyticsDatabaseServer = () => testDatabaseServer('analytics-query', migrate);

/** Skips tests of features that do not exist on a distributed store (PERKWAY_TEST_CITUS). */
export const onOnePostgres = runCitusWorkers().length === 0 ? it : it.skip;

export const ISSUER = 'https://token.perkway.test';
export const AUDIENCE = 'perkway-analytics';

export interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  jwk: PublicJwk;
}
export function signingKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, kty: 'EC' } };
}

export interface TokenOptions extends jwt.SignOptions {
  claims?: object;
}
/** Returns a token like those of token-issuer. */
export const tokenFor = (
  account: string,
  key: SigningKey,
  { claims = {}, ...options }: TokenOptions = {},
): string =>
  jwt.sign({ role: 'USER', ...claims }, key.privateKey, {
    algorithm: 'ES256',
    keyid: key.kid,
    subject: account,
    issuer: ISSUER,
    audience: AUDIENCE,
    expiresIn: 300,
    ...options,
  });

/** Stands in for token-issuer on the broker. */
export const fakeTokenIssuer = (natsUrl: string, keys: () => SigningKey[]): Promise<RpcResponder<object>> =>
  respond(natsUrl, GET_ANALYTICS_KEYS, () => ({
    keys: keys().map(({ jwk }) => jwk),
    issuer: ISSUER,
    audience: AUDIENCE,
  }));

export const launchAnalytics = (
  database: TestDatabase,
  nats: { url: string },
  overrides: Record<string, string> = {},
): Promise<LaunchedApp> =>
  launchApp(
    defineApp(loadEnv(envSpec, { ...testEnvironment('analytics-query', { database, nats }), ...overrides })),
  );

export interface HttpResponse<Body = LoadBody> {
  status: number;
  headers: Record<string, string>;
  body: Body;
}
export interface LoadBody {
  error?: string;
  data: Record<string, unknown>[];
  // Other response shapes are accessed without types.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  [member: string]: any;
}

export class Analytics {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  async get(path: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return http(this, { authorization: this.token, ...headers }).get(path);
  }
  load(query: unknown, queryType?: string): Promise<HttpResponse> {
    const params = new URLSearchParams({ query: JSON.stringify(query), ...(queryType ? { queryType } : {}) });
    return this.get(`/cubejs-api/v1/load?${params}`);
  }
  async post(path: string, body: unknown, contentType = 'application/json'): Promise<HttpResponse> {
    const request = http(this, { authorization: this.token, 'content-type': contentType }).post(path);
    return request.send(typeof body === 'string' ? body : JSON.stringify(body));
  }
  /** Returns the value of one measure over everything. */
  async count(measure: string): Promise<number> {
    const { status, body } = await this.load({ measures: [measure] });
    if (status !== 200) throw new Error(`${status} ${body.error}`);
    return Number(body.data[0]![measure]);
  }
}

type Draft<E> = E extends TrackingEvent ? Omit<E, 'v' | 'id' | 'at'> & { id?: string; at?: number } : never;
/** Returns an event, by default with a new id and the current time. */
export const event = (draft: Draft<TrackingEvent>): TrackingEvent =>
  ({ v: TRACKING_EVENT_VERSION, id: randomUUID(), at: Date.now(), ...draft }) as TrackingEvent;

export const click = (account: string, more: Partial<Draft<TrackingEvent>> = {}): TrackingEvent =>
  event({ type: 'perk_click', account, collection: 'main', perk: 'coffee', ...more } as Draft<TrackingEvent>);

/** Publishes to the stream as an app does, and waits for the acknowledgement of each message. */
export class Publisher {
  private constructor(private readonly connection: NatsConnection) {}

  static async connect(natsUrl: string): Promise<Publisher> {
    return new Publisher(
      await connectTo(natsUrl, {
        maxReconnectAttempts: -1,
        reconnectTimeWait: 50,
        waitOnFirstConnect: true,
      }),
    );
  }

  /**
   * Retries until the stream has stored it, as the outbox of an app does.
   *
   * @param subject by default the operator's, which may carry events of every app
   */
  async publish(body: unknown, subject = TRACKING_REPLAY_SUBJECT): Promise<void> {
    const payload = typeof body === 'string' ? body : JSON.stringify(body);
    const stream = jetstream(this.connection, { timeout: 1_000 });
    const stored = async () => void (await stream.publish(subject, payload));
    await waitFor(stored, 'an acknowledgement', 60_000);
  }
  events(...events: TrackingEvent[]): Promise<void> {
    return this.publish({ events });
  }
  close(): Promise<void> {
    return this.connection.close();
  }
}

export interface Stack {
  database: TestDatabase;
  nats: TestNats;
  key: SigningKey;
  app: LaunchedApp;
  publisher: Publisher;
  as(account: string): Analytics;
  close(): Promise<void>;
}

/** Starts a database, a broker, a stand-in for token-issuer and the app in both roles. */
export async function analyticsStack(
  overrides: Record<string, string> = {},
  makeDatabase: () => Promise<TestDatabase> = analyticsDatabase,
): Promise<Stack> {
  const [database, nats] = await Promise.all([makeDatabase(), testNats()]);
  const key = signingKey('k1');
  const issuer = await fakeTokenIssuer(nats.url, () => [key]);
  const app = await launchAnalytics(database, nats, overrides);
  const publisher = await Publisher.connect(nats.url);
  return {
    database,
    nats,
    key,
    app,
    publisher,
    as: (account) => new Analytics(app.url, tokenFor(account, key)),
    close: () => closeAll(publisher, app, issuer, database, nats),
  };
}
