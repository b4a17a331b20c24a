import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '@perkway/audit';
import { http, untilServed, waitFor } from '@perkway/testing';
import pg from 'pg';
import { aBody, EUR_25, GiftCards, inSeconds, linkIdOf, type Link, type Reply } from './support.js';

/** The default keeps the test fast; GIFT_RACE_ROUNDS=5000 is a full run. */
const ROUNDS = Number(process.env.GIFT_RACE_ROUNDS ?? 300);
const CONCURRENT_ROUNDS = 25;

describe('concurrent requests', () => {
  let gift: GiftCards;
  const clients: pg.Client[] = [];
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.end())));
  afterAll(() => gift?.close());

  /** Opens a transaction that stays uncommitted, also for longer than the role may be idle. */
  const otherSession = async () => {
    const client = new pg.Client(gift.database.url);
    await client.connect();
    clients.push(client);
    await client.query('set idle_in_transaction_session_timeout = 0');
    await client.query('begin');
    return client;
  };
  const expireIn = (token: string, ms: number) =>
    gift.database.query(
      `update reward_links set expires_at = clock_timestamp() + make_interval(secs => $2) where id = $1`,
      [linkIdOf(token), ms / 1000],
    );
  /** Returns a link that another transaction has locked, and a function that expires the link and commits. */
  const aLockedLink = async () => {
    const link = await gift.aLink(await gift.aPool(1));
    const client = await otherSession();
    await client.query('select from reward_links where id = $1 for update', [link.id]);
    const expire = async () => {
      await client.query('update reward_links set expires_at = clock_timestamp() where id = $1', [link.id]);
      await client.query('commit');
    };
    return { ...link, expire };
  };
  const exists = async (sql: string, ...values: string[]) =>
    (await gift.database.query(sql, values)).length > 0;
  const untilBlocked = () =>
    waitFor(
      () =>
        exists(`select from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database() and pid <> pg_backend_pid()`),
      'the request to wait for another transaction',
    );
  /** Returns a request as the service passes it to the SQL function `reserve_links`. */
  const aRequest = (pool: string, given: object = {}) => ({
    link: randomUUID(),
    account: gift.user.account,
    pool,
    denomination: 25,
    currency: 'EUR',
    country: null,
    expires_at: inSeconds(60),
    created_by: 'x',
    idempotency_key: randomUUID(),
    body_digest: 'aa',
    token_key: 'k1',
    ...given,
  });
  /** Counts the responses by status 201 or error code. */
  const outcomesOf = (responses: Reply<unknown>[]) =>
    responses.reduce<Record<string, number>>((counts, { status, body }) => {
      const name = status === 201 ? '201' : String(body);
      return { ...counts, [name]: (counts[name] ?? 0) + 1 };
    }, {});

  it('get different cards: 50 of 200 get the 50 cards of the pool, and 150 are rejected', async () => {
    const pool = await gift.aPool(50);
    const replica = await gift.launch();
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const options = { key: randomUUID(), url: index % 2 ? replica.url : gift.app.url };
        return untilServed(() => gift.generate(pool, options));
      }),
    );
    await replica.close();
    expect(outcomesOf(responses)).toEqual({ 201: 50, NO_AVAILABLE_CARDS: 150 });
    expect(await gift.numbers(pool)).toMatchObject([{ ...EUR_25, available: 0, reserved: 50, redeemed: 0 }]);
    const links = responses.filter(({ status }) => status === 201).map(({ body }) => body);
    const revealed = await Promise.all(links.map(({ token }) => gift.reveal(token)));
    expect(new Set(revealed.map(({ link }) => link?.card?.code)).size).toBe(50);
    expect(await gift.numbers(pool)).toMatchObject([{ ...EUR_25, available: 0, reserved: 0, redeemed: 50 }]);
  });

  it('get the cards of all expired links before they are rejected', async () => {
    const pool = await gift.aPool(40);
    const old = await Promise.all(Array.from({ length: 40 }, () => gift.aLink(pool)));
    await Promise.all(old.map(({ token }) => gift.expire(token)));
    const responses = await Promise.all(Array.from({ length: 60 }, () => gift.generate(pool)));
    expect(outcomesOf(responses)).toEqual({ 201: 40, NO_AVAILABLE_CARDS: 20 });
    for (const { token } of old) expect(await gift.reveal(token)).toMatchObject({ error: 'LINK_EXPIRED' });
  });

  it('a card load into a pool that is being deleted finds no pool', async () => {
    const pool = await gift.aPool(0);
    const client = await otherSession();
    await client.query('delete from pools where id = $1', [pool]);
    const loaded = http(gift.app, gift.admin)
      .post(`/admin/pools/${pool}/cards`)
      .set('content-type', 'text/csv')
      .send('code,denomination,currency,country\n')
      .then(({ status, body }) => ({ status, code: body.code }));
    await untilBlocked();
    await client.query('commit');
    expect(await loaded).toEqual({ status: 404, code: 'POOL_NOT_FOUND' });
  });

  describe('a card locked by another transaction', () => {
    const lockFreeCard = async (pool: string) => {
      const client = await otherSession();
      const { rowCount } = await client.query(
        `delete from free_cards where inventory_id in (select id from inventories where pool_id = $1)`,
        [pool],
      );
      expect(rowCount).toBe(1);
      return client;
    };

    it('is reserved after that transaction rolls back', async () => {
      const pool = await gift.aPool(1);
      const holder = await lockFreeCard(pool);
      const generated = gift.generate(pool);
      await untilBlocked();
      await holder.query('rollback');
      expect((await generated).status).toBe(201);
    });

    it('is not reserved after that transaction commits', async () => {
      const pool = await gift.aPool(1);
      const client = await otherSession();
      const { rows } = await client.query('select * from reserve_links($1, false)', [
        JSON.stringify([aRequest(pool)]),
      ]);
      expect(rows).toMatchObject([{ outcome: 'RESERVED' }]);
      // Two requests, because several requests first run in one transaction.
      const generated = Promise.all([gift.generate<string>(pool), gift.generate<string>(pool)]);
      await untilBlocked();
      await client.query('commit');
      expect((await generated).map(({ body }) => body)).toEqual(['NO_AVAILABLE_CARDS', 'NO_AVAILABLE_CARDS']);
    });

    it('is reserved after a rollback if it belongs to an expired link', async () => {
      const pool = await gift.aPool(1);
      const { token } = await gift.aLink(pool);
      await gift.expire(token);
      const client = await otherSession();
      await client.query('select from reward_links where id = $1 for update', [linkIdOf(token)]);
      const generated = gift.generate(pool);
      await untilBlocked();
      await client.query('rollback');
      expect((await generated).status).toBe(201);
      expect((await gift.open(token)).link?.state).toBe('EXPIRED');
    });

    it('is not waited for forever if it exists only in wrong counts', async () => {
      const pool = await gift.aPool(0);
      await gift.addCards(pool, 1);
      const add = (loaded: number) =>
        gift.database.query(
          `update inventory_counts set loaded = loaded + $2
           where inventory_id = (select id from inventories where pool_id = $1) and loaded > 0`,
          [pool, loaded],
        );
      await gift.aLink(pool);
      await add(5);
      expect((await gift.generate<string>(pool)).body).toBe('NO_AVAILABLE_CARDS');
      await add(-5);
    });

    it('does not block the reservation of other cards', async () => {
      const pool = await gift.aPool(20);
      const client = await otherSession();
      await client.query(
        `select from free_cards where inventory_id in (select id from inventories where pool_id = $1)
         order by pick limit 10 for update`,
        [pool],
      );
      const links = await Promise.all(Array.from({ length: 10 }, () => gift.aLink(pool)));
      expect(new Set(links.map(({ token }) => token)).size).toBe(10);
      await client.query('rollback');
    });
  });

  it('do not deadlock if they reserve from the same entries in different orders', async () => {
    const pool = await gift.aPool(400);
    await gift.addCards(pool, 400, { ...EUR_25, country: 'AT' });
    // The counts have 16 slots, so two of 17 connections share one.
    const sessions = await Promise.all(
      Array.from({ length: 17 }, async () => {
        const client = new pg.Client(gift.database.url);
        await client.connect();
        clients.push(client);
        const { rows } = await client.query<{ slot: number }>('select pg_backend_pid() % 16 as slot');
        return { client, slot: rows[0]!.slot };
      }),
    );
    const [one, other] = sessions.flatMap((a, index) => {
      const b = sessions.slice(index + 1).find(({ slot }) => slot === a.slot);
      return b ? [a.client, b.client] : [];
    });
    const reserving = async (client: pg.Client, countries: (string | null)[]) => {
      for (let nth = 0; nth < 150; nth += 1) {
        const requests = countries.map((country) => aRequest(pool, { country }));
        const { rows } = await client.query('select * from reserve_links($1, false)', [
          JSON.stringify(requests),
        ]);
        expect(rows).toMatchObject([{ outcome: 'RESERVED' }, { outcome: 'RESERVED' }]);
      }
    };
    // The second transaction reserves in France first; its request without a country then gets Austria, which sorts
    // first.
    await Promise.all([reserving(one!, ['AT', 'FR']), reserving(other!, ['FR', null])]);
    expect(await gift.numbers(pool)).toMatchObject([{ reserved: 300 }, { reserved: 300 }]);
  });

  describe('reveals', () => {
    it('of one link, 20 at once, all return the same card', async () => {
      const pool = await gift.aPool(1);
      const { token } = await gift.aLink(pool);
      const replies = await Promise.all(Array.from({ length: 20 }, () => gift.reveal(token)));
      // All replies but that to the first reveal have `revealedAt`.
      const first = { ...replies[0]!, revealedAt: undefined };
      expect(replies.map((reply) => ({ ...reply, revealedAt: undefined }))).toEqual(replies.map(() => first));
      expect(replies[0]!.link).toMatchObject({ state: 'REVEALED', card: { pin: '4071' } });
      expect(await gift.numbers(pool)).toMatchObject([{ available: 0, reserved: 0, redeemed: 1 }]);
      // A revealed link stays revealed, even after its expiry.
      await gift.expire(token);
      expect(await gift.open(token)).toMatchObject({
        link: { state: 'REVEALED', card: replies[0]!.link!.card },
      });
      expect(await gift.reveal(token)).toMatchObject({ link: { state: 'REVEALED' } });
      expect((await gift.generate<string>(pool)).body).toBe('NO_AVAILABLE_CARDS');
    });

    it('that are uncommitted when their link expires still count: reads wait for them', async () => {
      const client = await otherSession();
      // Reveals before the expiry, without a commit. Doubles the time if a busy machine needs longer.
      const revealIn = async (ms: number): Promise<string> => {
        const { id, token } = await gift.aLink(await gift.aPool(1));
        await expireIn(token, ms);
        const { rows } = await client.query('select reveal_link($1) as event', [id]);
        if (rows[0].event !== null) return token;
        await client.query('rollback; begin');
        return revealIn(2 * ms);
      };
      const token = await revealIn(500);
      await waitFor(
        () => exists('select from reward_links where id = $1 and expires_at <= now()', linkIdOf(token)),
        'its expiry',
      );
      const opened = gift.open(token);
      await untilBlocked();
      await client.query('commit');
      expect((await opened).link?.state).toBe('REVEALED');
    });

    it('do not reveal a link that expires while they wait', async () => {
      const { token, expire } = await aLockedLink();
      const revealed = gift.reveal(token);
      await untilBlocked();
      await expire();
      expect(await revealed).toMatchObject({ error: 'LINK_EXPIRED' });
    });

    it(`race with the expiry and a new reservation of the card: at most one wins in ${ROUNDS} rounds`, async () => {
      const outcomes = { revealed: 0, claimed: 0, neither: 0 };
      const round = async (number: number) => {
        const entry = { denomination: number + 1, currency: 'EUR', country: 'FR' };
        const pool = await gift.aPool(1, entry);
        const body = aBody({ denomination: entry.denomination });
        const startedAt = performance.now();
        const old = await gift.aLink(pool, { body });
        // All calls arrive around the time of expiry. The window is wider the longer a call takes.
        const moment = 30 + Math.random() * Math.max(170, 3 * (performance.now() - startedAt));
        await expireIn(old.token, moment);
        const [revealed, claimed] = await Promise.all([
          sleep(Math.random() * 1.5 * moment).then(() => gift.reveal(old.token)),
          sleep(Math.random() * 2.5 * moment).then(() => gift.generate<Link>(pool, { body })),
          sleep(moment + 10),
        ]);
        const wasRevealed = revealed.link?.state === 'REVEALED';
        const wasClaimed = claimed.status === 201;
        expect(wasRevealed && wasClaimed).toBe(false);
        if (!wasRevealed) expect(revealed).toMatchObject({ error: 'LINK_EXPIRED' });
        if (!wasClaimed) expect(claimed).toMatchObject({ status: 409, body: 'NO_AVAILABLE_CARDS' });
        // Both outcomes are final.
        expect((await gift.open(old.token)).link?.state).toBe(wasRevealed ? 'REVEALED' : 'EXPIRED');
        expect(await gift.numbers(pool)).toMatchObject([
          {
            ...entry,
            available: !wasRevealed && !wasClaimed ? 1 : 0,
            reserved: wasClaimed ? 1 : 0,
            redeemed: wasRevealed ? 1 : 0,
          },
        ]);
        if (wasClaimed) expect((await gift.reveal(claimed.body.token)).link?.card).toBeDefined();
        outcomes[wasRevealed ? 'revealed' : wasClaimed ? 'claimed' : 'neither'] += 1;
      };
      for (let from = 0; from < ROUNDS; from += CONCURRENT_ROUNDS)
        await Promise.all(
          Array.from({ length: Math.min(CONCURRENT_ROUNDS, ROUNDS - from) }, (_, index) =>
            round(from + index),
          ),
        );
      // If one of them never won, nothing raced.
      expect(outcomes.revealed).toBeGreaterThan(0);
      expect(outcomes.claimed).toBeGreaterThan(0);
    }, 600_000);
  });

  describe('a cancellation', () => {
    const cancel = (id: string) => http(gift.app, gift.user).post(`/reward-links/${id}/cancel`);

    it('waits for a running reveal, and then does not change the link', async () => {
      const { id, token } = await gift.aLink(await gift.aPool(1));
      const client = await otherSession();
      await client.query('select reveal_link($1)', [id]);
      const cancelled = cancel(id).then(({ status, text }) => [status, text]);
      await untilBlocked();
      await client.query('commit');
      expect(await cancelled).toEqual([409, 'LINK_ALREADY_REVEALED']);
      expect((await gift.open(token)).link?.state).toBe('REVEALED');
    });

    it('does not change a link that expires while it waits', async () => {
      const { id, expire } = await aLockedLink();
      const cancelled = cancel(id).then(({ body }) => body as object);
      await untilBlocked();
      await expire();
      expect(await cancelled).toMatchObject({ state: 'EXPIRED', cancelled_at: null });
    });
  });

  it('leave every card in exactly one place', async () => {
    const report = await audit({ databaseUrl: gift.database.urls.admin });
    expect(report.output).toContain('Every card is in exactly one place');
    expect(report.passed).toBe(true);
  });
});
