import type { ResolvedPerk, TrackingEvent } from '@perkway/domain';
import { loadEnv, runMigrations } from '@perkway/platform';
import {
  aKey,
  closeAll,
  createTrackingStream,
  fakeAccounts,
  fakeCatalogue,
  http,
  launchApp,
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
  type TestNats,
} from '@perkway/testing';
import type { Test } from 'supertest';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';

export const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

export interface Sent {
  method?: 'get' | 'head' | 'post' | 'put' | 'options';
  headers?: Record<string, string>;
  json?: unknown;
  key?: string;
  to?: LaunchedApp;
}

/** Runs Boost with everything it depends on. */
export class BoostWorld {
  nats: TestNats;
  database: TestDatabase & { server?: TestNats['server'] };
  accounts: FakeAccounts;
  catalogue: { close(): Promise<void> };
  boost: LaunchedApp;
  readonly offers = new Map<string, string>();
  /** Overrides of a perk's fields, by perk id and language. */
  readonly shown = new Map<string, Record<string, Partial<ResolvedPerk>>>();
  readonly admin = aKey('platform', 'ADMIN');
  readonly acme = aKey('acme');
  readonly other = aKey('other');

  /** @param ownPostgres starts a Postgres server that the test may kill */
  async start({ ownPostgres = false } = {}) {
    const migrate = (url: string) => runMigrations(url, 'boost', migrations);
    [this.nats, this.database] = await Promise.all([
      testNats(),
      ownPostgres ? testDatabaseServer('boost', migrate) : testDatabase('boost', migrate),
    ]);
    await createTrackingStream(this.nats.url);
    this.accounts = await fakeAccounts(this.nats.url, this.admin, this.acme, this.other);
    await this.startCatalogue();
    this.boost = await this.launch();
  }

  stop(): Promise<void> {
    return closeAll(this.boost, this.accounts, this.catalogue, this.nats, this.database);
  }

  env(given: Record<string, string> = {}) {
    return loadEnv(envSpec, {
      ...testEnvironment('boost', { database: this.database, nats: this.nats, trustedProxies: '127.0.0.1' }),
      ...given,
    });
  }

  /** Starts another replica. */
  async launch(given: Record<string, string> = {}): Promise<LaunchedApp> {
    const launched = await launchApp(defineApp(this.env(given)));
    await untilTracking(launched);
    return launched;
  }

  /** The server of `ownPostgres`. */
  get postgres() {
    return this.database.server!;
  }

  async startCatalogue() {
    this.catalogue = await fakeCatalogue(this.nats.url, this.offers, (id, language) => ({
      languages: Object.keys(this.shown.get(id) ?? {}),
      ...this.shown.get(id)?.[language],
    }));
  }

  /** Calls Boost with the headers of a browser. */
  send(path: string, { headers = {}, json, key, to = this.boost, method }: Sent = {}): Test {
    const type: Record<string, string> = json === undefined ? {} : { 'content-type': 'application/json' };
    const caller = { 'user-agent': CHROME, ...(key ? { 'x-api-key': key } : {}), ...type, ...headers };
    const request = http(to, caller)[method ?? (json === undefined ? 'get' : 'post')](path);
    return json === undefined ? request : request.send(JSON.stringify(json));
  }

  put(id: string, campaign: object, key = this.admin.key): Test {
    return this.send(`/admin/campaigns/${id}`, { method: 'put', json: campaign, key });
  }

  /** Creates a campaign with these perks, and the perks. */
  async campaign(id: string, perks: string[] = ['coffee'], owner = 'acme') {
    for (const perk of perks)
      if (!this.offers.has(perk)) this.offers.set(perk, `https://shop.example/${perk}`);
    await this.put(id, { owner, name: `Name of ${id}`, incentives: perks }).expect(200);
  }

  /** Returns path and query of a reward URL. */
  async rewardPath(campaign: string, perk = 'coffee', query = ''): Promise<string> {
    const { body } = await this.send(`/outreach/campaign/${campaign}/reward-url?perkId=${perk}${query}`, {
      key: this.acme.key,
    }).expect(200);
    const { pathname, search } = new URL(body as string);
    return pathname + search;
  }

  /**
   * Returns the events of a campaign, except its name, in the order of their times. Waits for the outbox, because an event
   * that the broker acknowledges late arrives through it.
   */
  async counted<E extends TrackingEvent>(campaign: string): Promise<E[]> {
    await untilRelayed(this.database);
    const events = await trackedEvents(this.nats.url);
    const counted = events.filter(
      (event) => 'campaign' in event && event.campaign === campaign && event.type !== 'campaign_named',
    ) as E[];
    return counted.sort((one, other) => one.at - other.at);
  }
}
