import { ADVISORY_LOCKS } from '@perkway/domain';
import { http, waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { aBody, EUR_25, GiftCards, inSeconds, linkIdOf, type Link } from './support.js';

describe('a link that expires while a request waits', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());

  const exists = async (sql: string, ...values: string[]) =>
    (await gift.database.query(sql, values)).length > 0;

  /**
   * Requests a link while another transaction blocks it: that one holds all slots, and has reserved a card. Expires the
   * link of `token` before it commits.
   */
  const requestWhileBlocked = async (pool: string, apiKey: string, account: string, token: string) => {
    const client = new pg.Client(gift.database.url);
    await client.connect();
    try {
      // A busy machine may need longer than the role may be idle.
      await client.query('set idle_in_transaction_session_timeout = 0');
      await client.query('begin');
      const slots = ADVISORY_LOCKS.giftCardSlot.replace('pg_backend_pid() % 16', 'slot');
      await client.query(`select pg_advisory_xact_lock(${slots}) from generate_series(0, 15) slot`);
      const other = {
        link: randomUUID(),
        account,
        pool,
        denomination: 25,
        currency: 'EUR',
        created_by: 'crm',
        expires_at: inSeconds(60),
        idempotency_key: randomUUID(),
        body_digest: '00',
        token_key: 'k',
      };
      const { rows } = await client.query('select * from reserve_links($1, false)', [
        JSON.stringify([other]),
      ]);
      expect(rows).toMatchObject([{ outcome: 'RESERVED' }]);
      const requested = gift.generate<Link>(pool, { apiKey });
      await waitFor(
        () =>
          exists(`select from pg_stat_activity where wait_event = 'advisory' and query like '%reserve_links%'
            and datname = current_database() and pid <> pg_backend_pid()`),
        'the request to wait',
      );
      await gift.expire(token);
      await client.query('commit');
      return await requested;
    } finally {
      await client.end();
    }
  };

  it('gives its card to the request', async () => {
    const pool = await gift.aPool(2);
    const old = await gift.aLink(pool);
    expect((await requestWhileBlocked(pool, gift.user.key, gift.user.account, old.token)).status).toBe(201);
    const rows = await gift.database.query('select released from reward_links where id = $1', [
      linkIdOf(old.token),
    ]);
    expect(rows).toEqual([{ released: true }]);
    expect((await gift.generate(pool)).body).toBe('NO_AVAILABLE_CARDS');
  });

  it('no longer counts for a limit of the request', async () => {
    const { account, key } = gift.newKey();
    const pool = await gift.aPool(9, EUR_25, account);
    await http(gift.app, gift.admin)
      .put(`/admin/limits/${randomUUID()}`)
      .send({ owner: account, links: 2, period: 'day' })
      .expect(200);
    const old = await gift.aLink(pool, { apiKey: key, body: aBody() });
    expect((await requestWhileBlocked(pool, key, account, old.token)).status).toBe(201);
    expect((await gift.generate(pool, { apiKey: key })).body).toBe('LIMIT_REACHED');
  });
});
