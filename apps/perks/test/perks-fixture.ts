import { setTimeout as sleep } from 'node:timers/promises';
import { loadEnv, runMigrations } from '@perkway/platform';
import {
  aKey,
  anAccountId,
  closeAll,
  createTrackingStream,
  fakeAccounts,
  http,
  launchApp,
  purgeTrackingStream,
  testDatabase,
  testDatabaseServer,
  testEnvironment,
  testNats,
  trackedEvents,
  untilRelayed,
  untilTracking,
  type FakeAccounts,
  type LaunchedApp,
  type TestDatabase,
  type TestKey,
  type TestNats,
} from '@perkway/testing';
import type { PerkViewEvent } from '@perkway/domain';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';

export const migrate = (url: string) => runMigrations(url, 'perks', migrations);

export interface PerkBody {
  [field: string]: unknown;
}

/** A perk that is applied automatically. */
export const aPerk = (fields: PerkBody = {}): PerkBody => ({
  title: 'Two for one',
  description: 'Buy one, get one.',
  callout: '2 for 1',
  redemption_note: 'Applied automatically.',
  details: 'Until the end of the year.',
  offer_url: 'https://shop.example/two-for-one',
  offer_slug: 'two-for-one',
  partner: { id: 'shop', name: 'The Shop' },
  categories: [],
  ...fields,
});

export const aGroup = (name: string, rank: number, ...perks: [id: string, rank: number][]) => ({
  name,
  rank,
  perks: perks.map(([id, perkRank]) => ({ id, rank: perkRank })),
});

/** The perks app on a real Postgres and NATS, with an account that has keys. */
export class PerksFixture {
  readonly account = anAccountId();
  readonly user: TestKey = aKey(this.account);
  readonly stranger: TestKey = aKey();
  readonly admin: TestKey = aKey('platform', 'ADMIN');
  private readonly replicas: LaunchedApp[] = [];
  private count = 0;

  private constructor(
    readonly nats: TestNats,
    readonly database: TestDatabase,
    readonly accounts: FakeAccounts,
  ) {}

  static async start({ ownServer = false } = {}): Promise<PerksFixture> {
    const [nats, database] = await Promise.all([
      testNats(),
      ownServer ? testDatabaseServer('perks', migrate) : testDatabase('perks', migrate),
    ]);
    await createTrackingStream(nats.url);
    const fixture = new PerksFixture(nats, database, await fakeAccounts(nats.url));
    fixture.accounts.add(fixture.user, fixture.stranger, fixture.admin);
    await fixture.launch();
    await untilTracking(fixture.app);
    return fixture;
  }

  get app(): LaunchedApp {
    return this.replicas[0]!;
  }

  get environment(): Record<string, string> {
    return testEnvironment('perks', { nats: this.nats, database: this.database });
  }

  /** Starts another replica on the same database and broker. */
  async launch(): Promise<LaunchedApp> {
    const replica = await launchApp(defineApp(loadEnv(envSpec, this.environment)));
    this.replicas.push(replica);
    return replica;
  }

  close(): Promise<void> {
    return closeAll(...this.replicas, this.accounts, this.nats, this.database);
  }

  newId(kind: string): string {
    this.count += 1;
    return `${kind}-${this.count}`;
  }

  get(path: string, { key = this.user, app = this.app }: { key?: TestKey; app?: LaunchedApp } = {}) {
    return http(app, key).get(path);
  }

  post(path: string, body: object, { key = this.user }: { key?: TestKey } = {}) {
    return http(this.app, key).post(path).send(body);
  }

  put(path: string, body: object, { key = this.admin }: { key?: TestKey } = {}) {
    return http(this.app, key).put(path).send(body);
  }

  delete(path: string, { key = this.admin }: { key?: TestKey } = {}) {
    return http(this.app, key).delete(path);
  }

  async putCategory(id: number, fields: object = {}): Promise<void> {
    await this.put(`/admin/categories/${id}`, {
      slug: `category-${id}`,
      name: `Category ${id}`,
      ...fields,
    }).expect(200);
  }

  /** Creates or replaces a perk. @returns its id */
  async putPerk(fields: PerkBody = {}, id: string = this.newId('perk')): Promise<string> {
    await this.putWithRetries(`/admin/perks/${id}`, aPerk(fields));
    return id;
  }

  /** Creates or replaces a collection of the account. @returns its id */
  async putCollection(groups: object[], id: string = this.newId('collection')): Promise<string> {
    await this.putWithRetries(`/admin/perk-collections/${id}`, { owner: this.account, groups });
    return id;
  }

  /** Retries a 503 with `Retry-After`: on an overloaded machine, writes wait too long for earlier ones. */
  private async putWithRetries(path: string, body: object): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.put(path, body);
      const retryAfter = response.headers['retry-after'];
      if (response.status === 503 && retryAfter !== undefined && attempt < 30) {
        await sleep(Number(retryAfter) * 1_000);
        continue;
      }
      expect([response.status, response.text]).toEqual([200, expect.any(String)]);
      return;
    }
  }

  /** Discards all events so far. */
  forgetEvents(): Promise<void> {
    return purgeTrackingStream(this.nats.url, this.database);
  }

  /**
   * Returns the views in the order of their times. Waits for the outbox, because a view that the broker acknowledges late
   * arrives through it.
   */
  async views(): Promise<PerkViewEvent[]> {
    await untilRelayed(this.database);
    return (await this.viewsInStream()).sort((one, other) => one.at - other.at);
  }

  async viewsInStream(): Promise<PerkViewEvent[]> {
    const events = await trackedEvents(this.nats.url);
    return events.filter((event): event is PerkViewEvent => event.type === 'perk_view');
  }
}
