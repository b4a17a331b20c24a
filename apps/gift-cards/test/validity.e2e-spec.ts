import { audit } from '@perkway/audit';
import { aBody, EUR_25, GiftCards, inSeconds, someCodes } from './support.js';

const DAY_S = 86_400;
/** The UTC date that many days from now. */
const dayIn = (days: number): string => new Date(Date.now() + days * DAY_S * 1000).toISOString().slice(0, 10);
/** Unix seconds of the first instant after a date. */
const endOf = (date: string): number => Date.parse(date) / 1000 + DAY_S;

describe('cards with an end of validity', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());
  afterEach(async () => {
    const report = await audit({ databaseUrl: gift.database.urls.admin });
    expect(report.output).toContain('Every card is in exactly one place');
  });

  const load = (pool: string, count: number, more: object) =>
    gift.load<{ load_id: string; imported: number; rejected: object[] }>(
      pool,
      someCodes(count)
        .map((code) => JSON.stringify({ code, ...EUR_25, ...more }))
        .join('\n'),
    );
  const link = (pool: string, expires_at: number) => gift.generate(pool, { body: aBody({ expires_at }) });
  /** Makes the cards of this date look as if they had been valid until yesterday. */
  const lapse = (pool: string, date: string) =>
    gift.database.query('update inventories set valid_until = $3 where pool_id = $1 and valid_until = $2', [
      pool,
      date,
      dayIn(-1),
    ]);

  it('show their last day to the recipient once they are revealed', async () => {
    const pool = await gift.aPool(0);
    await load(pool, 1, { valid_until: dayIn(30) });
    const { token } = await gift.aLink(pool);
    expect((await gift.open(token)).link).not.toHaveProperty('card');
    for (const { link: shown } of [await gift.reveal(token), await gift.open(token)])
      expect(shown?.card?.valid_until).toBe(dayIn(30));
  });

  it('are loaded from NDJSON and CSV, with their batch, and the response names the load', async () => {
    const pool = await gift.aPool(0);
    const [one, two, three] = someCodes(3);
    const csv = `code,denomination,currency,country,batch,valid_until\n${one},25,EUR,FR,B-1,${dayIn(0)}\n${two},25,EUR,FR,,\n`;
    const loaded = await gift.load<{ load_id: string; imported: number }>(pool, csv, {
      contentType: 'text/csv',
    });
    expect(loaded).toMatchObject({ status: 200, body: { imported: 2 } });
    expect(loaded.body.load_id).toBe(loaded.headers['x-load-id']);
    const ndjson = JSON.stringify({ code: three, ...EUR_25, valid_until: dayIn(30), batch: 'ü'.repeat(100) });
    expect((await gift.load(pool, ndjson)).body.imported).toBe(1);
    expect(
      await gift.database.query(
        `select c.batch, i.valid_until::text, c.load_id = $2 as first, c.loaded_at > now() - interval '1 minute' as new
         from cards c join inventories i on i.id = c.inventory_id where i.pool_id = $1 order by c.id`,
        [pool, loaded.body.load_id],
      ),
    ).toEqual([
      { batch: 'B-1', valid_until: dayIn(0), first: true, new: true },
      { batch: null, valid_until: null, first: true, new: true },
      { batch: 'ü'.repeat(100), valid_until: dayIn(30), first: false, new: true },
    ]);
    expect(await gift.numbers(pool)).toEqual([
      { ...EUR_25, available: 3, reserved: 0, redeemed: 0, withdrawn: 0, lapsed: 0 },
    ]);
  });

  it.each([
    [
      'VALID_UNTIL_INVALID',
      [dayIn(-1), '2030-02-30', '2030-1-01', 20301231, 'soon'].map((valid_until) => ({ valid_until })),
    ],
    ['BATCH_INVALID', ['x'.repeat(101), 7, 'a\nb', 'a\u200bb'].map((batch) => ({ batch }))],
  ])('reject rows: %s', async (reason, rows) => {
    const pool = await gift.aPool(0);
    for (const row of rows)
      expect((await load(pool, 1, row)).body).toMatchObject({ imported: 0, rejected: [{ row: 1, reason }] });
  });

  it('are given only to links that expire by the end of their day, in UTC', async () => {
    const pool = await gift.aPool(0);
    await load(pool, 1, { valid_until: dayIn(3) });
    expect(await link(pool, endOf(dayIn(3)))).toMatchObject({ status: 409, body: 'NO_AVAILABLE_CARDS' });
    expect((await link(pool, endOf(dayIn(3)) - 1)).status).toBe(201);
  });

  it('are given in the order in which they lapse, and cards without a date last', async () => {
    const pool = await gift.aPool(1);
    await load(pool, 1, { valid_until: dayIn(9) });
    await load(pool, 1, { valid_until: dayIn(5) });
    const given = async (expires_at: number) => {
      const { body } = await link(pool, expires_at);
      const [row] = await gift.database.query<{ day: string | null }>(
        'select i.valid_until::text as day from reward_links l join inventories i on i.id = l.inventory_id where l.id = $1',
        [body.id],
      );
      return row!.day;
    };
    expect(await given(inSeconds(7 * DAY_S))).toBe(dayIn(9));
    expect(await given(inSeconds(DAY_S))).toBe(dayIn(5));
    expect(await given(inSeconds(DAY_S))).toBeNull();
  });

  it('lapse when their day is over, free or on an expired link, and are never given again', async () => {
    const pool = await gift.aPool(1);
    await load(pool, 3, { valid_until: dayIn(2) });
    const [revealed, expired] = [
      (await link(pool, inSeconds(60))).body,
      (await link(pool, inSeconds(60))).body,
    ];
    await gift.reveal(revealed.token);
    await gift.expire(expired.token);
    await gift.database.query('update reward_links set expires_at = $2 where id = $1', [
      revealed.id,
      new Date(endOf(dayIn(-1)) * 1000 - 1000),
    ]);
    await gift.database.query('update reward_links set expires_at = $2 where id = $1', [
      expired.id,
      new Date(endOf(dayIn(-1)) * 1000 - 1000),
    ]);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 3, redeemed: 1, lapsed: 0 }]);
    await lapse(pool, dayIn(2));
    expect(await gift.numbers(pool)).toEqual([
      { ...EUR_25, available: 1, reserved: 0, redeemed: 1, withdrawn: 0, lapsed: 2 },
    ]);
    expect((await link(pool, inSeconds(60))).status).toBe(201);
    expect((await link(pool, inSeconds(60))).body).toBe('NO_AVAILABLE_CARDS');
    expect((await gift.open(revealed.token)).link?.state).toBe('REVEALED');
  });

  it('are chosen by the expiry of each link, even if several links share a transaction', async () => {
    const pool = await gift.aPool(0);
    await load(pool, 10, { valid_until: dayIn(3) });
    await load(pool, 10, { valid_until: dayIn(6) });
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, index) => link(pool, inSeconds((index % 3 === 0 ? 4 : 1) * DAY_S))),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 0, reserved: 20 }]);
  });
});

describe('the expiry of a link', () => {
  it('is at most MAX_LINK_DAYS away, except for the replay of an earlier link', async () => {
    const gift = await GiftCards.start({ environment: { MAX_LINK_DAYS: '400' } });
    try {
      const pool = await gift.aPool(2);
      const key = '3f0d4c9e-8a11-4a57-b8c0-1f2e3d4c5b6a';
      const far = { key, body: aBody({ expires_at: inSeconds(399 * DAY_S) }) };
      const made = await gift.generate(pool, far);
      expect(made.status).toBe(201);
      await gift.restartApp();
      expect(
        await gift.generate(pool, { ...far, key: '3f0d4c9e-8a11-4a57-b8c0-1f2e3d4c5b6b' }),
      ).toMatchObject({
        status: 400,
        body: 'EXPIRING_DATE_INVALID',
      });
      expect(await gift.generate(pool, far)).toMatchObject({ status: 201, body: made.body });
      const last = aBody({ expires_at: inSeconds(366 * DAY_S - 5) });
      expect((await gift.generate(pool, { body: last })).status).toBe(201);
    } finally {
      await gift.close();
    }
  });
});
