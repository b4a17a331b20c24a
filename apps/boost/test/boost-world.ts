import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrackingEvent } from '@perkway/domain';
import { loadEnv, runMigrations } from '@perkway/platform';
import {
  aKey,
  createTrackingStream,
  fakeAccounts,
  fakeCatalogue,
  launchApp,
  testDatabase,
  testDatabaseServer,
  testEnvironment,
  testNats,
  trackedEvents,
  type FakeAccounts,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';

export const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  body: string;
}
export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  json?: unknown;
  key?: string;
  to?: LaunchedApp;
}

/** Boost with everything around it that is not Boost. */
export class BoostWorld {
  nats: TestNats;
  database: TestDatabase & { server?: TestNats['server'] };
  accounts: FakeAccounts;
  catalogue: { close(): Promise<void> };
  boost: LaunchedApp;
  readonly offers = new Map<string, string>();
  readonly admin = aKey('platform', 'ADMIN');
  readonly acme = aKey('acme');
  readonly other = aKey('other');

  /** @param ownPostgres one that the test may kill */
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

  async stop() {
    await this.boost?.close();
    await Promise.all([this.accounts?.close(), this.catalogue?.close()]);
    await Promise.all([this.nats?.close(), this.database?.close()]);
  }

  env(given: Record<string, string> = {}) {
    return loadEnv(envSpec, {
      ...testEnvironment('boost', { database: this.database, nats: this.nats, trustedProxies: '127.0.0.1' }),
      ...given,
    });
  }

  /** Another replica. */
  async launch(given: Record<string, string> = {}): Promise<LaunchedApp> {
    const launched = await launchApp(defineApp(this.env(given)));
    // Tracking has found the stream when what is answered is in it and not in the outbox.
    await sleep(150);
    return launched;
  }

  /** That of `ownPostgres`. */
  get postgres() {
    return this.database.server!;
  }

  async startCatalogue() {
    this.catalogue = await fakeCatalogue(this.nats.url, this.offers);
  }

  /** As a client sends it: neither path nor headers are changed on the way. */
  send(path: string, { method, headers = {}, json, key, to = this.boost }: Sent = {}): Promise<Answer> {
    const body = json === undefined ? undefined : JSON.stringify(json);
    const { hostname, port } = new URL(to.url);
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        {
          hostname,
          port,
          path,
          method: method ?? (body === undefined ? 'GET' : 'POST'),
          headers: {
            'user-agent': CHROME,
            ...(key ? { 'x-api-key': key } : {}),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const bytes = Buffer.concat(chunks);
            resolve({
              status: response.statusCode!,
              headers: response.headers,
              bytes,
              body: bytes.toString(),
            });
          });
        },
      );
      request.on('error', reject).end(body);
    });
  }

  async put(id: string, campaign: object, key = this.admin.key) {
    return this.send(`/admin/campaigns/${id}`, { method: 'PUT', json: campaign, key });
  }

  /** A campaign of acme with these perks, all of which exist. */
  async campaign(id: string, perks: string[] = ['coffee'], owner = 'acme') {
    for (const perk of perks)
      if (!this.offers.has(perk)) this.offers.set(perk, `https://shop.example/${perk}`);
    const { status, body } = await this.put(id, { owner, name: `Name of ${id}`, incentives: perks });
    if (status !== 200) throw new Error(body);
  }

  /** Path and query of a reward URL. */
  async rewardPath(campaign: string, perk = 'coffee', query = ''): Promise<string> {
    const { status, body } = await this.send(
      `/outreach/campaign/${campaign}/reward-url?perkId=${perk}${query}`,
      { key: this.acme.key },
    );
    if (status !== 200) throw new Error(body);
    const { pathname, search } = new URL(JSON.parse(body) as string);
    return pathname + search;
  }

  /** What was counted for a campaign, its name aside. */
  async counted<E extends TrackingEvent>(campaign: string): Promise<E[]> {
    const events = await trackedEvents(this.nats.url);
    return events.filter(
      (event) => 'campaign' in event && event.campaign === campaign && event.type !== 'campaign_named',
    ) as E[];
  }

  async outboxIsEmpty() {
    for (const end = Date.now() + 15_000; Date.now() < end; await sleep(50))
      if ((await this.database.query('select 1 from tracking_outbox')).length === 0) return;
    throw new Error('the outbox was not relayed');
  }
}
