import { randomUUID } from 'node:crypto';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import {
  GET_REWARD_LINK,
  REVEAL_REWARD_LINK,
  type LanguagePreference,
  type RewardLinkReply,
} from '@perkway/domain';
import { loadEnv, runMigrations } from '@perkway/platform';
import {
  aKey,
  anAccountId,
  closeAll,
  connectTo,
  createTrackingStream,
  fakeAccounts,
  http,
  launchApp,
  testDatabase,
  testDatabaseServer,
  testEnvironment,
  testNats,
  untilServed,
  waitFor,
  type FakeAccounts,
  type LaunchedApp,
  type TestDatabase,
  type TestKey,
  type TestNats,
} from '@perkway/testing';
import type { Test } from 'supertest';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { migrations } from '../src/migrations/index.js';
import type { Pool } from '../src/pools/pool.dto.js';
import { ExpiredLinks } from '../src/reward-links/expired-links.js';
import type { Withdrawal } from '../src/withdrawals/withdrawal.dto.js';

export const migrate = (url: string) => runMigrations(url, 'gift-cards', migrations);

export interface Reply<Body = string> {
  status: number;
  headers: Record<string, string>;
  /** Parsed if the response is JSON, else text. */
  body: Body;
}
const replyTo = async <Body>(request: Test): Promise<Reply<Body>> => {
  const { status, headers, type, body, text } = await request;
  return { status, headers, body: (type.endsWith('json') ? body : text) as Body };
};

export interface Link {
  id: string;
  reward_link: string;
  token: string;
}
export interface Entry {
  denomination: number;
  currency: string;
  country: string;
}
export interface GenerateOptions {
  key?: string | null;
  createdBy?: string | null;
  apiKey?: string;
  body?: unknown;
  /** Raw body, sent instead of `body`. */
  raw?: string;
  contentType?: string;
  url?: string;
  /** Custom attributes, by name in the query. */
  attributes?: Record<string, string>;
}

export const EUR_25: Entry = { denomination: 25, currency: 'EUR', country: 'FR' };
export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;
export const tomorrow = (): number => inSeconds(86_400);
export const aBody = (given: object = {}) => ({
  denomination: 25,
  currency: 'EUR',
  expires_at: tomorrow(),
  ...given,
});

let serial = 0;
/** Returns card codes that no other test uses. */
export const someCodes = (count: number): string[] => {
  serial += 1;
  return Array.from({ length: count }, (_, index) => `CODE-${process.pid}-${serial}-${index}`);
};

/** Runs the app with a database and a broker of its own, one client account and one administrator. */
export class GiftCards {
  readonly user = aKey(anAccountId());
  readonly admin = aKey(anAccountId(), 'ADMIN');

  private constructor(
    readonly nats: TestNats,
    readonly database: TestDatabase & { server?: TestNats['server'] },
    readonly accounts: FakeAccounts,
    private readonly connection: NatsConnection,
  ) {}
  app!: LaunchedApp;

  static async start({
    ownServer = false,
    environment = {} as Record<string, string>,
  } = {}): Promise<GiftCards> {
    const [nats, database] = await Promise.all([
      testNats(),
      ownServer ? testDatabaseServer('gift-cards', migrate) : testDatabase('gift-cards', migrate),
    ]);
    await createTrackingStream(nats.url);
    const accounts = await fakeAccounts(nats.url);
    const fixture = new GiftCards(nats, database, accounts, await connectTo(nats.url));
    accounts.add(fixture.user, fixture.admin);
    fixture.app = await fixture.launch(environment);
    return fixture;
  }

  environment(given: Record<string, string> = {}): Record<string, string> {
    return { ...testEnvironment('gift-cards', { database: this.database, nats: this.nats }), ...given };
  }

  /** Disables the background settling of links, which changes no number, for tests that move links in time. */
  disableSettling(): void {
    jest.spyOn(this.app.app.get(ExpiredLinks, { strict: false }), 'settle').mockResolvedValue(0);
  }

  async restartApp(environment: Record<string, string> = {}): Promise<void> {
    await this.app.close();
    this.app = await this.launch(environment);
  }

  launch(environment: Record<string, string> = {}): Promise<LaunchedApp> {
    return launchApp(defineApp(loadEnv(envSpec, this.environment(environment))));
  }

  /** Adds another client account. Returns its key. */
  newKey(): TestKey {
    const key = aKey();
    this.accounts.add(key);
    return key;
  }

  get<Body = string>(path: string, apiKey = this.user.key): Promise<Reply<Body>> {
    return replyTo(http(this.app, { key: apiKey }).get(path));
  }

  putPool(id: string, owner: string, apiKey = this.admin.key): Promise<Reply<Pool>> {
    return replyTo(http(this.app, { key: apiKey }).put(`/admin/pools/${id}`).send({ owner }));
  }

  load<Body = { imported: number; duplicates: number; rejected: { row: number; reason: string }[] }>(
    pool: string,
    body: string,
    { contentType = 'application/x-ndjson', apiKey = this.admin.key, suffix = '' } = {},
  ): Promise<Reply<Body>> {
    const request = http(this.app, { key: apiKey }).post(`/admin/pools/${pool}/cards${suffix}`);
    return replyTo(request.set('content-type', contentType).send(body));
  }

  /** Creates a pool of the client account with these cards. */
  async aPool(count: number, entry: Entry = EUR_25, owner = this.user.account): Promise<string> {
    const pool = randomUUID();
    // On a busy machine the account may not be looked up in time.
    const reply = await untilServed(() => this.putPool(pool, owner));
    if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    if (count > 0) await this.addCards(pool, count, entry);
    return pool;
  }

  async addCards(pool: string, count: number, entry: Entry = EUR_25): Promise<string[]> {
    const codes = someCodes(count);
    const reply = await this.load(
      pool,
      codes.map((code) => JSON.stringify({ code, pin: '4071', ...entry })).join('\n'),
    );
    if (reply.status !== 200 || reply.body.imported !== count) throw new Error(JSON.stringify(reply.body));
    return codes;
  }

  generate<Body = Link>(pool: string, options: GenerateOptions = {}): Promise<Reply<Body>> {
    const {
      key = randomUUID(),
      createdBy = 'tests',
      apiKey = this.user.key,
      contentType = 'application/json',
    } = options;
    const { body = aBody(), raw = JSON.stringify(body), url = this.app.url, attributes } = options;
    const request = http({ url }, { key: apiKey })
      .post(`/pool/${pool}/reward-links`)
      .query({ ...(key === null ? {} : { idempotencyKey: key }), ...attributes })
      .set('content-type', contentType);
    if (createdBy !== null) void request.set('x-created-by', createdBy);
    return replyTo(request.send(raw));
  }

  async aLink(pool: string, options: GenerateOptions = {}): Promise<Link> {
    const reply = await this.generate(pool, options);
    if (reply.status !== 201) throw new Error(`${reply.status} ${String(reply.body)}`);
    return reply.body;
  }

  /** Begins a withdrawal, by default one that keeps the cards of outstanding links, and returns it when it is done. */
  async withdraw(pool: string, body: object): Promise<Withdrawal> {
    const { body: begun } = await http(this.app, this.admin)
      .post(`/admin/pools/${pool}/withdrawals`)
      .set('idempotency-key', randomUUID())
      .send({ reason: 'recalled', reserved: 'keep', ...body })
      .expect(202);
    return this.untilWithdrawn(pool, begun.id);
  }

  async untilWithdrawn(pool: string, id: string): Promise<Withdrawal> {
    let withdrawal!: Withdrawal;
    await waitFor(async () => {
      const path = `/admin/pools/${pool}/withdrawals/${id}`;
      withdrawal = (await this.get<Withdrawal>(path, this.admin.key)).body;
      return withdrawal.state === 'done';
    }, 'the withdrawal');
    return withdrawal;
  }

  open(token: string, preference: LanguagePreference = {}): Promise<RewardLinkReply> {
    return this.requestOwner(GET_REWARD_LINK.subject, { token, ...preference });
  }

  reveal(token: string, preference: LanguagePreference = {}): Promise<RewardLinkReply> {
    return this.requestOwner(REVEAL_REWARD_LINK.subject, { token, ...preference });
  }

  async numbers(pool: string): Promise<Pool['inventories']> {
    return (await this.get<Pool>(`/pool/${pool}`)).body.inventories;
  }

  /** Sets the expiry of a link to now. */
  async expire(token: string): Promise<void> {
    const reply = await this.open(token);
    if (!reply.link) throw new Error('unknown link');
    await this.database.query(`update reward_links set expires_at = clock_timestamp() where id = $1`, [
      linkIdOf(token),
    ]);
  }

  close(): Promise<void> {
    return closeAll(this.app, this.connection, this.accounts, this.nats, this.database);
  }

  /** Sends an RPC in Nest's wire format, as the Allocation Page does. */
  private async requestOwner(subject: string, data: object): Promise<RewardLinkReply> {
    const message = await this.request(subject, JSON.stringify({ pattern: subject, data, id: randomUUID() }));
    const { response, err } = message.json<{ response?: RewardLinkReply; err?: { message: string } }>();
    if (!response) throw new Error(`refused: ${JSON.stringify(err)}`);
    return response;
  }

  /** Retries, because a newly started app subscribes in the background. */
  private async request(subject: string, body: string): Promise<Msg> {
    let message!: Msg;
    await waitFor(async () => {
      message = await this.connection.request(subject, body, { timeout: 10_000 });
    }, `a response to ${subject}`);
    return message;
  }
}

/** The token holds: version, length of the key id, key id, then the 16 bytes of the link id. */
export const linkIdOf = (token: string): string => {
  const bytes = Buffer.from(token, 'base64url');
  const at = 2 + bytes[1]!;
  return bytes.toString('hex', at, at + 16);
};
