import { audit } from '@perkway/audit';
import { BundledApp, http, waitFor, type AppProcess } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import type { Withdrawal } from '../src/withdrawals/withdrawal.dto.js';
import { aBody, EUR_25, GiftCards, inSeconds, someCodes } from './support.js';

/** A full run withdraws 50,000 cards; the default is smaller to keep tests fast. */
const CARDS = Number(process.env.GIFT_WITHDRAWAL_CARDS ?? 5_000);
const OTHER_CARDS = 2_000;
const CLIENTS = 6;

describe('a withdrawal while links are made and revealed', () => {
  let gift: GiftCards;
  let bundle: BundledApp;
  beforeAll(async () => {
    gift = await GiftCards.start({ ownServer: true });
    await gift.database.query('alter database perkway set synchronous_commit = on');
    bundle = await BundledApp.build('gift-cards');
  });
  afterAll(() => gift?.close());

  it(
    `of ${CARDS} cards survives two kills, keeps the sums at every look, and no withdrawn card is revealed afterwards`,
    async () => {
      const pool = await gift.aPool(OTHER_CARDS);
      const codes = someCodes(CARDS);
      const rows = codes.map((code) => JSON.stringify({ code, ...EUR_25, batch: 'recalled' }));
      for (let from = 0; from < rows.length; from += 10_000)
        await gift.load(pool, rows.slice(from, from + 10_000).join('\n'));
      const recalled = new Set(codes);
      const [{ id: inventory }] = (await gift.database.query<{ id: number }>(
        'select id from inventories where pool_id = $1',
        [pool],
      )) as [{ id: number }];
      // Links made before the withdrawal: some are revealed, the others still open.
      const early = await Promise.all(Array.from({ length: 60 }, () => gift.aLink(pool)));
      await Promise.all(early.slice(0, 30).map(({ token }) => gift.reveal(token)));

      // Only the spawned replicas run the withdrawal, so that killing them interrupts it.
      await gift.app.close();
      const spawn = async () => {
        const replica = await bundle.spawn(gift.environment());
        await replica.ready();
        return replica;
      };
      let replica: AppProcess = await spawn();
      let isOver = false;
      let isWithdrawn = false;
      /** Codes, and whether their reveal began after the withdrawal had ended. */
      const revealed = new Map<string, boolean>();
      let looks = 0;
      const attempt = <T>(call: Promise<T>): Promise<T | undefined> => call.catch(() => undefined);
      const client = async () => {
        while (!isOver) {
          const body = aBody({ expires_at: inSeconds(Math.random() < 0.3 ? 1 : 600) });
          const made = await attempt(gift.generate(pool, { body, url: replica.url }));
          if (made?.status !== 201 || Math.random() < 0.5) continue;
          const isLater = isWithdrawn;
          const reply = await attempt(gift.reveal(made.body.token));
          if (reply?.link?.card) revealed.set(reply.link.card.code, isLater);
        }
      };
      const look = async () => {
        while (!isOver) {
          const [n] = await gift.database.query<Record<string, string>>(
            'select * from inventory_numbers where id = $1',
            [inventory],
          );
          const places = ['available', 'reserved', 'redeemed', 'withdrawn', 'lapsed'].map((name) =>
            Number(n![name]),
          );
          expect(places.reduce((sum, cards) => sum + cards, 0)).toBe(CARDS + OTHER_CARDS);
          expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
          looks += 1;
        }
      };
      const progress = async (): Promise<Withdrawal> =>
        (
          await http({ url: replica.url }, gift.admin)
            .get(`/admin/pools/${pool}/withdrawals/${id}`)
            .expect(200)
        ).body as Withdrawal;
      const work = Promise.all([look(), ...Array.from({ length: CLIENTS }, client)]);
      let id = '';
      try {
        const begun = await http({ url: replica.url }, gift.admin)
          .post(`/admin/pools/${pool}/withdrawals`)
          .set('idempotency-key', randomUUID())
          .send({ reason: 'recalled', batch: 'recalled', reserved: 'cancel' })
          .expect(202);
        id = (begun.body as Withdrawal).id;
        // Early, so that even a late kill interrupts it.
        for (const part of [0, 0.3]) {
          let seen!: Withdrawal;
          await waitFor(
            async () => (seen = await progress()).withdrawn > CARDS * part,
            'a part of the withdrawal',
            60_000,
          );
          expect(seen).toMatchObject({ state: 'running' });
          await replica.kill('SIGKILL');
          replica = await spawn();
        }
        let done!: Withdrawal;
        await waitFor(
          async () => (done = await progress()).state === 'done',
          'the end of the withdrawal',
          120_000,
        );
        isWithdrawn = true;
        const later = () => [...revealed.keys()].filter((code) => revealed.get(code));
        await waitFor(() => later().length >= 20, 'reveals after the withdrawal', 60_000);
        isOver = true;
        await work;
        expect(later().filter((code) => recalled.has(code))).toEqual([]);
        expect(done.withdrawn + done.redeemed).toBe(CARDS);
        expect(done.redeemed).toBeGreaterThan(0);
        // No open link of a withdrawn card reveals it.
        const replies = await Promise.all(early.slice(30).map(({ token }) => gift.reveal(token)));
        for (const reply of replies)
          if (reply.link?.card) expect(recalled.has(reply.link.card.code)).toBe(false);
        const [{ both }] = (await gift.database.query<{ both: string }>(
          `select count(*) as both from withdrawn_cards w join reward_links l on l.card_id = w.card_id
           where l.revealed_at is not null`,
        )) as [{ both: string }];
        expect(both).toBe('0');
        expect(looks).toBeGreaterThan(20);
        expect(await audit({ databaseUrl: gift.database.urls.admin })).toMatchObject({ passed: true });
      } finally {
        isOver = true;
        await replica.kill('SIGKILL');
        await work.catch(() => undefined);
      }
    },
    120_000 + CARDS * 20,
  );
});
