import type { RewardLinkEvent, TrackingEvent } from '@perkway/domain';
import { Loops } from '@perkway/platform';
import { http, trackedMessages, waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { ExpiredLinks } from '../src/reward-links/expired-links.js';
import { aBody, GiftCards, type Link } from './support.js';

describe('the events of a link', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
    // The tests settle links explicitly.
    await gift.app.app.get(Loops).beforeApplicationShutdown();
  });
  afterAll(() => gift?.close());

  const job = () => gift.app.app.get(ExpiredLinks, { strict: false });
  /** Returns the events of these links, including duplicates in the stream. */
  const eventsOf = async (...links: Link[]): Promise<RewardLinkEvent[]> => {
    await waitFor(
      async () => (await gift.database.query('select from tracking_outbox')).length === 0,
      'an empty outbox',
    );
    const isOfThem = (event: TrackingEvent): event is RewardLinkEvent =>
      event.type === 'reward_link' && links.some(({ id }) => event.id.startsWith(`${id}:`));
    return (await trackedMessages(gift.nats.url)).flat().filter(isOfThem);
  };
  const statesOf = async (...links: Link[]) => (await eventsOf(...links)).map(({ state }) => state);
  const cancel = ({ id }: Link) => http(gift.app, gift.user).post(`/reward-links/${id}/cancel`).expect(200);
  const row = async ({ id }: Link) =>
    (await gift.database.query('select * from reward_links where id = $1', [id]))[0]!;

  it('are stored unchanged if a replica of an earlier release passes them, as it may publish them too', async () => {
    const pool = await gift.aPool(1);
    const id = randomUUID();
    const event = { v: 1, type: 'reward_link', id: `${id}:generated`, at: 1, account: gift.user.account };
    const request = {
      link: id,
      account: gift.user.account,
      pool,
      denomination: 25,
      currency: 'EUR',
      created_by: 'crm',
      expires_at: aBody().expires_at,
      idempotency_key: randomUUID(),
      body_digest: '00',
      token_key: 'k',
      event: JSON.stringify(event),
    };
    const rows = await gift.database.query('select outcome from reserve_cards($1, true)', [
      JSON.stringify([request]),
    ]);
    expect(rows).toEqual([{ outcome: 'RESERVED' }]);
    expect(await eventsOf({ id } as Link)).toEqual([event]);
  });

  it("carry the client's fields and the time of the change", async () => {
    const pool = await gift.aPool(3);
    const { expires_at: expiresAt } = aBody();
    const make = (given: object = {}) =>
      gift.aLink(pool, {
        createdBy: 'crm',
        body: aBody({
          campaign_id: 'spring',
          journey_id: 'j "1"',
          reference: 'Größe\u0007',
          expires_at: expiresAt,
          ...given,
        }),
        attributes: { utm_source: 'mail', cmeta_user: '7', cmeta___proto__: 'p', 'cmeta_a b': 'x' },
      });
    const [revealed, cancelled, expired] = [await make(), await make(), await make()];
    await gift.reveal(revealed.token);
    await gift.reveal(revealed.token);
    await cancel(cancelled);
    await cancel(cancelled);
    await gift.expire(expired.token);
    await job().settle();
    const common = {
      v: 1,
      type: 'reward_link',
      account: gift.user.account,
      pool,
      denomination: 25,
      currency: 'EUR',
      createdBy: 'crm',
      campaign: 'spring',
      journey: 'j "1"',
      reference: 'Größe\u0007',
      utm: { utm_source: 'mail' },
      cmeta: JSON.parse('{"user":"7","__proto__":"p"}') as object,
      at: expect.any(Number),
      country: 'FR',
      createdAt: expect.any(Number),
      expiresAt: expect.any(Number),
    };
    const found = [];
    for (const [link, state, time] of [
      [revealed, 'revealed', 'revealed_at'],
      [cancelled, 'cancelled', 'cancelled_at'],
      [expired, 'expired', 'expires_at'],
    ] as const) {
      const events = await eventsOf(link);
      expect(events).toEqual(
        ['generated', state].map((each) => ({ ...common, state: each, id: `${link.id}:${each}` })),
      );
      const stored = await row(link);
      expect(events[1]!.at).toBe((stored[time] as Date).getTime());
      for (const { createdAt } of events) expect(createdAt).toBe((stored['created_at'] as Date).getTime());
      expect(events[0]!.at).toBe(events[0]!.createdAt);
      expect(events[0]!.expiresAt).toBe(expiresAt);
      expect(events[1]!.expiresAt).toBe(Math.floor((stored['expires_at'] as Date).getTime() / 1000));
      found.push(...events);
    }
    const text = JSON.stringify(found);
    for (const secret of [revealed.token, cancelled.token, expired.token, 'CODE-'])
      expect(text).not.toContain(secret);

    const plain = await gift.aLink(pool);
    await cancel(plain);
    const { campaign, journey, reference, utm, cmeta, ...rest } = common;
    expect([campaign, journey, reference, utm, cmeta]).not.toContain(undefined);
    expect(await eventsOf(plain)).toEqual(
      ['generated', 'cancelled'].map((state) => ({
        ...rest,
        createdBy: 'tests',
        state,
        id: `${plain.id}:${state}`,
      })),
    );
  });

  it('contain one expiry, whether the card is reused before or after settling', async () => {
    const pool = await gift.aPool(2);
    const [early, late] = [await gift.aLink(pool), await gift.aLink(pool)];
    await gift.expire(early.token);
    // Another link gets the card before the expired link is settled.
    await gift.aLink(pool);
    expect(await statesOf(early)).toEqual(['generated', 'expired']);
    await gift.expire(late.token);
    await job().settle();
    expect(await statesOf(late)).toEqual(['generated', 'expired']);
    await gift.aLink(pool);
    await job().settle();
    expect(await statesOf(early, late)).toHaveLength(4);
    expect((await row(late)).released).toBe(true);
  });

  it('contain no expiry if the link was cancelled or revealed, even if its card is reused', async () => {
    const pool = await gift.aPool(3);
    const [reused, cancelled, revealed] = [
      await gift.aLink(pool),
      await gift.aLink(pool),
      await gift.aLink(pool),
    ];
    await cancel(reused);
    await gift.aLink(pool);
    await cancel(cancelled);
    await gift.reveal(revealed.token);
    await gift.expire(revealed.token);
    await job().settle();
    expect(await statesOf(reused, cancelled, revealed)).toEqual([
      ...['generated', 'generated', 'generated'],
      ...['cancelled', 'cancelled', 'revealed'],
    ]);
    expect((await row(reused)).released).toBe(true);
  });

  it('contain each expiry once, although several replicas settle links in the background', async () => {
    const replicas = [await gift.launch(), await gift.launch()];
    const pool = await gift.aPool(20);
    const links = await Promise.all(Array.from({ length: 20 }, () => gift.aLink(pool)));
    for (const { token } of links) await gift.expire(token);
    await waitFor(async () => (await statesOf(...links)).length >= 40, '20 expiries', 20_000);
    await Promise.all(replicas.map((replica) => replica.close()));
    await job().settle();
    expect((await statesOf(...links)).filter((state) => state === 'expired')).toHaveLength(20);
  });

  it('are written by the migration for links that expired before it', async () => {
    const pool = await gift.aPool(3);
    const [released, settled, live] = [
      await gift.aLink(pool),
      await gift.aLink(pool),
      await gift.aLink(pool),
    ];
    await gift.expire(released.token);
    await gift.expire(settled.token);
    await job().settle();
    await gift.database.query('update reward_links set released = true where id = $1', [released.id]);
    await eventsOf();
    const { RewardLinkLife1767225640000: Life } =
      await import('../src/migrations/1767225640000-reward-link-life.js');
    const queries: string[] = [];
    await new Life().up({ query: (sql: string) => Promise.resolve(queries.push(sql)) } as never);
    const insertEvents = queries.find((sql) => sql.includes('insert into tracking_outbox'))!;
    const before = await eventsOf(released, settled, live);
    await gift.database.query(insertEvents);
    const expiries = (events: RewardLinkEvent[]) =>
      events
        .filter(({ state }) => state === 'expired')
        .map(({ id, at, account }) => ({ id, at, account }))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    const published = (await eventsOf(released, settled, live)).slice(before.length);
    // The migration writes the same events again; equal ids make them count once.
    expect(expiries(published)).toEqual(expiries(before));
    expect(expiries(before)).toHaveLength(2);
  });
});

it('writes the events of a link although its database crashes before the outbox is relayed', async () => {
  const gift = await GiftCards.start({ ownServer: true });
  try {
    // Suppresses deletes, so that the outbox looks as if the relay had not run yet.
    await gift.database.query(`
      create function keep() returns trigger language plpgsql as 'begin return null; end';
      create trigger kept before delete on tracking_outbox for each row execute function keep()`);
    const pool = await gift.aPool(3);
    const [made, revealed, cancelled] = [
      await gift.aLink(pool),
      await gift.aLink(pool),
      await gift.aLink(pool),
    ];
    await gift.reveal(revealed.token);
    await http(gift.app, gift.user).post(`/reward-links/${cancelled.id}/cancel`).expect(200);
    const published = async () =>
      (await trackedMessages(gift.nats.url))
        .flat()
        .map(({ id }) => id)
        .sort();
    expect(await published()).toEqual([]);
    await gift.database.server!.kill();
    const ids = [made, revealed, cancelled].map(({ id }) => `${id}:generated`);
    await waitFor(
      async () =>
        expect(await published()).toEqual(
          [...ids, `${revealed.id}:revealed`, `${cancelled.id}:cancelled`].sort(),
        ),
      'an event of each state',
    );
  } finally {
    await gift.close();
  }
});
