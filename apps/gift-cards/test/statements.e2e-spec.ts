import { randomUUID } from 'node:crypto';
import { audit } from '@perkway/audit';
import { http } from '@perkway/testing';
import { MonthCloser } from '../src/statements/month-closer.js';
import type { Statement, StatementRow } from '../src/statements/statement.dto.js';
import { aBody, EUR_25, GiftCards, linkIdOf } from './support.js';

const FIGURES = [
  'opening',
  'loaded',
  'revealed',
  'withdrawn',
  'closing',
  'generated',
  'cancelled',
  'expired',
  'outstanding',
] as const;

/** Returns the month this many months before the current one, as YYYY-MM. */
const monthsAgo = (count: number): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 1)).toISOString().slice(0, 7);
};
const cardsOf = (row: StatementRow | undefined) =>
  row && Object.fromEntries(FIGURES.map((figure) => [figure, row[figure].cards]));

describe('GET /statements', () => {
  let gift: GiftCards;
  beforeEach(async () => {
    gift = await GiftCards.start();
    // The background job might have settled links up to a time after those that these tests set.
    gift.disableSettling();
  });
  afterEach(() => gift?.close());

  const statement = async (month: string, apiKey = gift.user.key): Promise<Statement> => {
    const { status, body } = await gift.get<Statement>(`/statements?month=${month}`, apiKey);
    expect(status).toBe(200);
    return body;
  };
  const move = (table: string, column: string, at: string, ids: (string | number)[], key = 'id') =>
    gift.database.query(`update ${table} set ${column} = $1 where ${key}::text = any ($2)`, [
      at,
      ids.map(String),
    ]);
  /** Call it after writing the history: from then on, the app may close the months since then at any moment. */
  const createdIn = (pool: string, month: string) =>
    move('pools', 'created_at', `${month}-01T00:00:00Z`, [pool]);
  /** Loads cards as if it had happened at that time. */
  const loadAt = async (pool: string, count: number, at: string, entry = EUR_25) => {
    const before = await gift.database.query('select coalesce(max(id), 0) as id from cards');
    await gift.addCards(pool, count, entry);
    await gift.database.query('update cards set loaded_at = $1 where id > $2', [at, before[0]!['id']]);
  };
  /** Inserts a link with these times of its creation, reveal, cancellation or expiry. */
  const linkAt = async (
    pool: string,
    created: string,
    end?: { state: string; at: string },
    entry = EUR_25,
  ) => {
    const link = await gift.aLink(pool, { body: aBody({ denomination: entry.denomination }) });
    if (end?.state === 'revealed') await gift.reveal(link.token);
    if (end?.state === 'cancelled')
      await gift.database.query('select cancel_link($1, $2)', [link.id, gift.user.account]);
    await gift.database.query(
      `update reward_links set created_at = $2,
         revealed_at = case when revealed_at is not null then $3::timestamptz end,
         cancelled_at = case when cancelled_at is not null then $3::timestamptz end,
         expires_at = case when cancelled_at is not null or $4 = 'expired' then $3::timestamptz else expires_at end
       where id = $1`,
      [linkIdOf(link.token), created, end?.at ?? null, end?.state ?? null],
    );
    return link;
  };

  it('adds up over twelve months of history, to the month that is open', async () => {
    const entries = [EUR_25, { ...EUR_25, denomination: 10.1 }];
    const pool = await gift.aPool(0);
    const expected: Record<string, Record<string, number>> = {};
    for (let ago = 12; ago >= 0; ago -= 1)
      for (const [index, entry] of entries.entries()) {
        const month = monthsAgo(ago);
        const at = (second: number) => `${month}-01T00:00:0${second}Z`;
        const counts = {
          loaded: 3 + ((ago * 7 + index) % 4),
          revealed: (ago + index) % 3,
          cancelled: (ago + 1 + index) % 2,
          expired: ago % 2,
        };
        await loadAt(pool, counts.loaded, at(0), entry);
        for (const state of ['revealed', 'cancelled', 'expired'] as const)
          for (let link = 0; link < counts[state]; link += 1)
            await linkAt(pool, at(1), { state, at: at(2) }, entry);
        expected[`${month} ${entry.denomination}`] = {
          ...counts,
          withdrawn: 0,
          outstanding: 0,
          generated: counts.revealed + counts.cancelled + counts.expired,
        };
      }
    await createdIn(pool, monthsAgo(12));

    let before: Statement | undefined;
    for (let ago = 13; ago >= 0; ago -= 1) {
      const month = monthsAgo(ago);
      const read = await statement(month);
      expect(read).toMatchObject({ month, closed: ago > 0 });
      expect(read.rows).toHaveLength(ago === 13 ? 0 : 2);
      for (const row of read.rows) {
        const { opening, loaded, revealed, withdrawn, closing } = row;
        expect(cardsOf(row)).toMatchObject(expected[`${month} ${row.denomination}`]!);
        expect(closing.cards).toBe(opening.cards + loaded.cards - revealed.cards - withdrawn.cards);
        for (const figure of FIGURES)
          expect(row[figure].amount).toBe(Number((row[figure].cards * row.denomination).toFixed(2)));
        const last = before?.rows.find(({ denomination }) => denomination === row.denomination);
        expect(opening).toEqual(last?.closing ?? { cards: 0, amount: 0 });
      }
      before = read;
    }
    expect(await audit({ databaseUrl: gift.database.urls.admin })).toMatchObject({ passed: true });
  });

  it('never changes a closed month, whatever happens later', async () => {
    const pool = await gift.aPool(0);
    const [last, earlier] = [monthsAgo(1), monthsAgo(2)];
    await loadAt(pool, 10, `${earlier}-05T00:00:00Z`);
    await linkAt(pool, `${earlier}-06T00:00:00Z`, { state: 'revealed', at: `${last}-01T00:00:00Z` });
    const [waiting, unwanted, unseen] = [
      await linkAt(pool, `${last}-06T00:00:00Z`),
      await linkAt(pool, `${last}-06T00:00:00Z`),
      await linkAt(pool, `${last}-06T00:00:00Z`),
    ];
    await createdIn(pool, earlier);
    const closed = [await statement(earlier), await statement(last)];
    expect(closed.map(({ rows }) => cardsOf(rows[0]))).toMatchObject([
      { opening: 0, loaded: 10, revealed: 0, closing: 10, generated: 1, outstanding: 1 },
      { opening: 10, loaded: 0, revealed: 1, closing: 9, generated: 3, outstanding: 3 },
    ]);

    const codes = await gift.addCards(pool, 5);
    await gift.reveal(waiting.token);
    await http(gift.app, gift.user).post(`/reward-links/${unwanted.id}/cancel`).expect(200);
    await gift.expire(unseen.token);
    // Takes the cards of the ended links, too.
    for (let count = 0; count < 12; count += 1) await gift.aLink(pool);
    await http(gift.app, gift.user)
      .post(`/reward-links/${waiting.id}/replace`)
      .set('x-created-by', 'support')
      .send({ reason: 'code rejected' })
      .expect(201);
    await gift.withdraw(pool, { codes, reserved: 'cancel' });
    expect(cardsOf((await statement(monthsAgo(0))).rows[0])).toMatchObject({
      opening: 9,
      loaded: 5,
      revealed: 1,
      withdrawn: 5,
      closing: 8,
      generated: 13,
      cancelled: 6,
      expired: 1,
      // Of 17 links, 2 were revealed, 6 cancelled, and 1 expired.
      outstanding: 8,
    });
    const other = gift.newKey();
    await gift.putPool(pool, other.account);
    expect([await statement(earlier), await statement(last)]).toEqual(closed);

    // The pool leaves one account and comes to the other with its cards.
    expect(cardsOf((await statement(monthsAgo(0))).rows[0])).toMatchObject({
      opening: 9,
      loaded: -9,
      closing: 0,
      outstanding: 0,
    });
    expect(cardsOf((await statement(monthsAgo(0), other.key)).rows[0])).toMatchObject({
      opening: 0,
      loaded: 14,
      revealed: 1,
      withdrawn: 5,
      closing: 8,
      outstanding: 8,
    });
    expect((await statement(last, other.key)).rows).toEqual([]);
    expect(await audit({ databaseUrl: gift.database.urls.admin })).toMatchObject({ passed: true });
  });

  it('shows an account nothing of another', async () => {
    await gift.aPool(3);
    expect((await statement(monthsAgo(0))).rows).toHaveLength(1);
    expect((await statement(monthsAgo(0), gift.newKey().key)).rows).toEqual([]);
  });

  it('counts withdrawn cards, also those whose kept link has ended', async () => {
    const pool = await gift.aPool(0);
    const month = monthsAgo(1);
    await loadAt(pool, 4, `${month}-02T00:00:00Z`);
    const kept = await linkAt(pool, `${month}-03T00:00:00Z`, {
      state: 'expired',
      at: `${month}-04T00:00:00Z`,
    });
    const withdrawal = randomUUID();
    await gift.database.query('update reward_links set recalled_by = $1 where id = $2', [
      withdrawal,
      linkIdOf(kept.token),
    ]);
    await gift.database.query(
      `with gone as (delete from free_cards where ctid = (select ctid from free_cards limit 1) returning *), counted as (
         insert into inventory_counts (inventory_id, slot, withdrawn) select inventory_id, 32, 1 from gone
       )
       insert into withdrawn_cards (card_id, inventory_id, withdrawal_id, withdrawn_at)
       select card_id, inventory_id, $1, $2 from gone`,
      [withdrawal, `${month}-05T00:00:00Z`],
    );
    await createdIn(pool, month);
    const figures = { opening: 0, loaded: 4, revealed: 0, withdrawn: 2, closing: 2 };
    expect(cardsOf((await statement(month)).rows[0])).toMatchObject(figures);
    expect(cardsOf((await statement(monthsAgo(0))).rows[0])).toMatchObject({
      opening: 2,
      withdrawn: 0,
      closing: 2,
    });
    expect(await audit({ databaseUrl: gift.database.urls.admin })).toMatchObject({ passed: true });
  });

  it('stores a month once if two replicas close it, and the audit counts it again', async () => {
    const pool = await gift.aPool(0);
    await loadAt(pool, 3, `${monthsAgo(1)}-05T00:00:00Z`);
    await createdIn(pool, monthsAgo(1));
    const closer = gift.app.app.get(MonthCloser, { strict: false });
    await Promise.all([closer.close(), closer.close()]);
    expect(await gift.database.query('select loaded from month_totals')).toEqual([{ loaded: '3' }]);
    expect(await audit({ databaseUrl: gift.database.urls.admin })).toMatchObject({ passed: true });

    await gift.database.query('update month_totals set loaded = 4');
    const report = await audit({ databaseUrl: gift.database.urls.admin });
    expect(report.output).toContain(`WRONG: a wrong total of a closed month: 1, ${monthsAgo(1)} of entry`);
    expect(report.passed).toBe(false);
  });

  it('returns CSV with cards and amounts in columns of their own', async () => {
    const pool = await gift.aPool(2);
    const month = monthsAgo(0);
    const reply = await http(gift.app, { key: gift.user.key })
      .get(`/statements?month=${month}`)
      .set('accept', 'text/csv');
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(reply.text).toBe(
      `pool_id,currency,country,denomination,${FIGURES.map((name) => `${name}_cards,${name}_amount`).join(',')}\r\n` +
        `${pool},EUR,FR,25,0,0,2,50,0,0,0,0,2,50,0,0,0,0,0,0,0,0\r\n`,
    );
  });

  it('rejects a month that is malformed or in the future', async () => {
    const months = ['2026-13', '2026-1', '10000-01', '0000-01', '', monthsAgo(-1)];
    const queries = ['', '?month=2026-01&month=2026-02', ...months.map((month) => `?month=${month}`)];
    for (const query of queries)
      expect(await gift.get(`/statements${query}`)).toMatchObject({ status: 400, body: 'MONTH_INVALID' });
  });

  it('signs no month that is open, malformed or in the future', async () => {
    const expected = {
      [monthsAgo(0)]: [409, 'MONTH_OPEN'],
      [monthsAgo(-1)]: [400, 'MONTH_INVALID'],
      '2026-13': [400, 'MONTH_INVALID'],
    };
    for (const [month, [status, body]] of Object.entries(expected))
      expect(await gift.get(`/statements/${month}.jws`)).toMatchObject({ status, body });
    expect(await gift.get('/statements/2026-01')).toMatchObject({ status: 404, body: 'NOT_FOUND' });
  });

  it('is empty for a month before the first pool', async () => {
    expect(await statement('1999-12')).toEqual({ month: '1999-12', closed: true, rows: [] });
  });
});
