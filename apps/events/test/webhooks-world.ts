import { loadEnv, runMigrations } from '@perkway/platform';
import {
  aKey,
  closeAll,
  fakeAccounts,
  http,
  launchApp,
  testDatabase,
  testEnvironment,
  testNats,
  type FakeAccounts,
  type LaunchedApp,
  type TestDatabase,
  type TestKey,
  type TestNats,
} from '@perkway/testing';
import type { FeedEvent } from '@perkway/domain';
import { defineApp } from '../src/app.js';
import { DeliveryWorker } from '../src/deliveries/delivery-worker.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';
import { storeEvents } from './stored-events.js';
import { startReceiver, type Receiver } from './receiver.js';

export const testFeedDatabase = (): Promise<TestDatabase> =>
  testDatabase('events', (url) => runMigrations(url, 'events', migrations));

/** Runs the app with a real database and broker, and receivers of webhooks. */
export class WebhooksWorld {
  nats: TestNats;
  database: TestDatabase;
  accounts: FakeAccounts;
  events: LaunchedApp;
  private readonly receivers: Receiver[] = [];

  async start() {
    [this.nats, this.database] = await Promise.all([testNats(), testFeedDatabase()]);
    this.accounts = await fakeAccounts(this.nats.url);
    this.events = await this.launch();
  }

  async stop() {
    await closeAll(this.events, ...this.receivers, this.accounts, this.nats, this.database);
  }

  /** Starts another replica. */
  launch(): Promise<LaunchedApp> {
    const environment = testEnvironment('events', { database: this.database, nats: this.nats });
    return launchApp(defineApp(loadEnv(envSpec, environment)));
  }

  /** Returns a key, by default of a new account. */
  key(...given: Parameters<typeof aKey>): TestKey {
    const key = aKey(...given);
    this.accounts.add(key);
    return key;
  }

  as(key: TestKey) {
    return http(this.events, key);
  }

  async receiver(...given: Parameters<typeof startReceiver>): Promise<Receiver> {
    const receiver = await startReceiver(...given);
    this.receivers.push(receiver);
    return receiver;
  }

  /** Appends events to the feed of an account, in place of the consumer of the stream. */
  async store({ account }: Pick<TestKey, 'account'>, ...events: FeedEvent[]) {
    await storeEvents(this.database, account, ...events);
    this.events.app.get(DeliveryWorker, { strict: false }).feedGrew();
  }

  /** Makes a webhook. Returns its secret. */
  async put(key: TestKey, id: string, body: object): Promise<string> {
    const response = await this.as(key).put(`/webhooks/${id}`).send(body).expect(201);
    return response.body.secret;
  }
}
