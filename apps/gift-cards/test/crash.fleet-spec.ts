import { audit } from '@perkway/audit';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { dataSourceOptions } from '@perkway/platform';
import { BundledApp, http, tcpProxy, waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { aBody, GiftCards, inSeconds, type Link } from './support.js';

/** A full run kills 8 processes for 60 seconds; the default is smaller to keep tests fast. */
const PROCESSES = Number(process.env.GIFT_CRASH_PROCESSES ?? 3);
const SECONDS = Number(process.env.GIFT_CRASH_SECONDS ?? 5);
const CLIENTS = 16;
const CARDS = 3_000;

const oneOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;

interface Given {
  key: string;
  body: object;
  link: Link;
  card?: string;
}

/**
 * A client that repeats a request with the same key until it gets a final response. `given` are the links it received.
 */
class Client {
  readonly given: Given[] = [];
  refusals = 0;
  unavailable = 0;
  faults: string[] = [];

  constructor(
    private readonly gift: GiftCards,
    private readonly pool: string,
    private readonly url: () => string,
  ) {}

  async run(isOver: () => boolean) {
    while (!isOver()) {
      const key = randomUUID();
      const body = aBody({ expires_at: inSeconds(oneOf([2, 3_600])) });
      const link = await this.untilResolved(key, body);
      if (!link) {
        await sleep(5);
        continue;
      }
      const given: Given = { key, body, link };
      this.given.push(given);
      if (Math.random() < 0.3) {
        const reply = await this.gift.reveal(link.token).catch(() => undefined);
        given.card = reply?.link?.card?.code;
      }
    }
  }

  private async untilResolved(key: string, body: object): Promise<Link | undefined> {
    for (;;) {
      const response = await this.gift
        .generate<Link>(this.pool, { key, body, url: this.url() })
        .catch(() => undefined);
      if (response?.status === 201) return response.body;
      if (response?.status === 409 && String(response.body) === 'NO_AVAILABLE_CARDS') {
        this.refusals += 1;
        return undefined;
      }
      // The expiry in the body may have passed during the retries.
      if (response?.status === 400 && String(response.body) === 'EXPIRING_DATE_INVALID') return undefined;
      if (response?.status === 503) {
        this.unavailable += 1;
        if (!response.headers['retry-after']) this.faults.push('503 without Retry-After');
      } else if (response) this.faults.push(`${response.status} ${String(response.body)}`);
      await sleep(20);
    }
  }
}

const linksOf = (clients: Client[]): number => clients.reduce((sum, { given }) => sum + given.length, 0);
/** Waits until the clients have enough further links for `expectLinksToWork`. */
const moreLinks = (clients: Client[]): Promise<void> => {
  const before = linksOf(clients);
  return waitFor(() => linksOf(clients) >= before + 100, 'more links', 120_000);
};

/** Expects that every acknowledged link exists, works as its state says, and has a card of its own. */
async function expectLinksToWork(gift: GiftCards, pool: string, clients: Client[], url: string) {
  const given = clients.flatMap((client) => client.given);
  expect(clients.flatMap(({ faults }) => faults)).toEqual([]);
  expect(given.length).toBeGreaterThan(50);
  const cards = new Set<string>();
  const check = async ({ key, body, link, card }: Given) => {
    const replayed = await gift.generate(pool, { key, body, url });
    expect(replayed.body).toEqual(link);
    expect(replayed.headers['idempotent-replayed']).toBe('true');
    const reply = await gift.reveal(link.token);
    if (reply.error) {
      expect(reply.error).toBe('LINK_EXPIRED');
      expect(card).toBeUndefined();
    } else {
      const { code } = reply.link.card!;
      if (card) expect(code).toBe(card);
      expect(cards.has(code)).toBe(false);
      cards.add(code);
    }
  };
  for (let from = 0; from < given.length; from += CLIENTS)
    await Promise.all(given.slice(from, from + CLIENTS).map(check));
  expect(cards.size).toBeGreaterThan(20);
  const report = await audit({ databaseUrl: gift.database.urls.admin });
  expect(report.output).toContain('Every card is in exactly one place');
  expect(report.passed).toBe(true);
}

describe('crashes', () => {
  let gift: GiftCards;
  let bundle: BundledApp;
  beforeAll(async () => {
    gift = await GiftCards.start({ ownServer: true });
    // Tests turn synchronous commit off; here a response must mean that the commit is durable.
    await gift.database.query('alter database perkway set synchronous_commit = on');
    await gift.restartApp();
    bundle = await BundledApp.build('gift-cards');
  });
  afterAll(() => gift?.close());

  it(
    `lose no link and give no card twice when ${PROCESSES} replicas are killed every second for ${SECONDS} s`,
    async () => {
      const pool = await gift.aPool(CARDS);
      // Limits that are never reached. The audit compares their counters with the links.
      for (const per of ['account', 'pool_id', 'created_by'])
        await http(gift.app, gift.admin)
          .put(`/admin/limits/${per}`)
          .send({ owner: gift.user.account, links: 1_000_000, period: 'total', per })
          .expect(200);
      const spawn = () => bundle.spawn(gift.environment());
      const replicas = await Promise.all(Array.from({ length: PROCESSES }, spawn));
      await Promise.all(replicas.map((replica) => replica.ready()));
      const clients = Array.from(
        { length: CLIENTS },
        () => new Client(gift, pool, () => oneOf(replicas).url),
      );
      const end = Date.now() + SECONDS * 1_000;
      let isOver = false;
      const running = clients.map((client) => client.run(() => isOver));
      let kills = 0;
      // On a busy machine, the kills take longer.
      while (Date.now() < end || kills <= SECONDS / 2) {
        await sleep(1_000 / PROCESSES + Math.random() * 300);
        const victim = Math.floor(Math.random() * PROCESSES);
        await replicas[victim]!.kill('SIGKILL');
        kills += 1;
        replicas[victim] = await spawn();
      }
      await moreLinks(clients);
      isOver = true;
      // Clients still waiting for a response get it from the running replicas.
      await Promise.all(running);
      await expectLinksToWork(gift, pool, clients, gift.app.url);
      await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')));
    },
    300_000 + SECONDS * 3_000,
  );

  it('between a reservation and its response keep a full limit exact', async () => {
    const pool = await gift.aPool(20);
    const user = gift.user;
    const limit = { owner: user.account, links: 5, period: 'total', only: { pool_id: pool } };
    await http(gift.app, gift.admin).put('/admin/limits/full').send(limit).expect(200);
    const proxy = await tcpProxy(gift.database.url);
    const environment = gift.environment();
    const replica = await bundle.spawn({
      ...environment,
      DATABASE_URL: proxy.through(environment.DATABASE_URL!),
    });
    const client = new pg.Client({ connectionString: gift.database.url });
    try {
      await Promise.all([replica.ready(), client.connect()]);
      const given = Array.from({ length: 8 }, () => ({ key: randomUUID(), body: aBody() }));
      // While this lock is held, no reservation can check its limits.
      await client.query(`begin; select pg_advisory_xact_lock(${ADVISORY_LOCKS.giftCardCounting})`);
      const responses = given.map((each) =>
        gift.generate(pool, { ...each, url: replica.url }).catch(() => undefined),
      );
      await waitFor(async () => {
        const { rows } = await client.query(
          `select from pg_locks where locktype = 'advisory' and not granted`,
        );
        return rows.length > 0;
      }, 'a reservation that waits');
      // From now on, the replica gets no results from the database.
      proxy.freeze();
      await client.query('commit');
      const links = async () =>
        (
          await gift.database.query(
            `select l.id from reward_links l join inventories i on i.id = l.inventory_id where i.pool_id = $1`,
            [pool],
          )
        ).length;
      await waitFor(async () => (await links()) > 0, 'a reservation without a response');
      await replica.kill('SIGKILL');
      expect((await Promise.all(responses)).filter((each) => each?.status === 201)).toEqual([]);

      const again = await Promise.all(given.map((each) => gift.generate(pool, each)));
      expect(again.map(({ status }) => status).sort()).toEqual([
        ...Array<number>(5).fill(201),
        409,
        409,
        409,
      ]);
      expect(again.some(({ headers }) => headers['idempotent-replayed'] === 'true')).toBe(true);
      expect(await links()).toBe(5);
      const usage = await gift.get<{ links: object }>(`/limits/full/usage?value=${pool}`);
      expect(usage.body.links).toEqual({ limit: 5, used: 5 });
      expect((await audit({ databaseUrl: gift.database.urls.admin })).passed).toBe(true);
    } finally {
      await replica.kill('SIGKILL');
      await client.end();
      await proxy.close();
    }
  });

  it('in which Postgres hangs reject all waiting requests within seconds, however many there are', async () => {
    const pool = await gift.aPool(1);
    const proxy = await tcpProxy(gift.database.url);
    const { DATABASE_URL } = gift.environment();
    const app = await gift.launch({ DATABASE_URL: proxy.through(DATABASE_URL!) });
    try {
      await gift.aLink(pool, { url: app.url });
      proxy.freeze();
      // Failing one batch after another would take a minute.
      const responses = await Promise.all(
        Array.from({ length: 2_500 }, () => gift.generate(pool, { url: app.url })),
      );
      expect(responses.filter(({ status, headers }) => status !== 503 || !headers['retry-after'])).toEqual(
        [],
      );
      proxy.thaw();
    } finally {
      await app.close();
      await proxy.close();
    }
  });

  it('in which Postgres hangs leave no connection inside an abandoned transaction', async () => {
    const proxy = await tcpProxy(gift.database.url);
    const options = dataSourceOptions(proxy.through(gift.database.url), 'test', 1) as { extra: object };
    const dataSource = new DataSource({
      ...options,
      extra: { ...options.extra, query_timeout: 3_000 },
    } as ConstructorParameters<typeof DataSource>[0]);
    await dataSource.initialize();
    try {
      await dataSource.query('select 1');
      proxy.freeze();
      // Both the begin and the rollback time out.
      await expect(dataSource.transaction((manager) => manager.query('select 1'))).rejects.toThrow();
      proxy.thaw();
      const id = randomUUID();
      await waitFor(
        async () =>
          void (await dataSource.query(
            'insert into pools (id, owner) values ($1, $2) on conflict do nothing',
            [id, 'x'],
          )),
        'a working connection',
      );
      expect(await gift.database.query('select id from pools where id = $1', [id])).toEqual([{ id }]);
    } finally {
      await dataSource.destroy();
      await proxy.close();
    }
  });

  it('of Postgres lead to 503 with Retry-After and leave nothing half done', async () => {
    const pool = await gift.aPool(CARDS);
    const clients = Array.from({ length: CLIENTS }, () => new Client(gift, pool, () => gift.app.url));
    let isOver = false;
    const running = clients.map((client) => client.run(() => isOver));
    for (let round = 0; round < 2; round += 1) {
      await sleep(1_200);
      await waitFor(() => clients.every(({ given }) => given.length > 0), 'a link of each client');
      await gift.database.server!.kill();
      await sleep(800);
      const { status, headers, body } = await gift.get('/pools');
      expect({ status, body, retryAfter: headers['retry-after'] }).toEqual({
        status: 503,
        body: 'DEPENDENCY_UNAVAILABLE',
        retryAfter: expect.stringMatching(/^\d+$/),
      });
      const load = await gift.load<{ code: string }>(pool, '{}');
      expect(load).toMatchObject({ status: 503, body: { code: 'DEPENDENCY_UNAVAILABLE' } });
      await expect(gift.reveal(clients[0]!.given[0]!.link.token)).rejects.toThrow('refused');
      await gift.database.server!.start();
    }
    await moreLinks(clients);
    isOver = true;
    await Promise.all(running);
    expect(clients.reduce((sum, { unavailable }) => sum + unavailable, 0)).toBeGreaterThan(0);
    await expectLinksToWork(gift, pool, clients, gift.app.url);
  });
});
