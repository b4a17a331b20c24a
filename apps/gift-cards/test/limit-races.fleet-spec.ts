import { audit } from '@perkway/audit';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { BundledApp, http, trackedEvents, untilRelayed } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LimitUsage } from '../src/limits/limit.dto.js';
import { aBody, EUR_25, GiftCards, type Link } from './support.js';

/** A full run takes 1,000 rounds; the default is smaller to keep tests fast. */
const ROUNDS = Number(process.env.GIFT_LIMIT_ROUNDS ?? 8);
const CONCURRENT_REQUESTS = 200;
const LINKS = 10;
const AMOUNT = 250;
/** A process is killed once in this many rounds, because it takes seconds to start again. */
const KILL_EVERY = 21;
const FIRST_KILL = 4;
const ENTRIES = [EUR_25, { ...EUR_25, denomination: 12.35 }, { ...EUR_25, denomination: 60.1 }];

type Process = Awaited<ReturnType<BundledApp['spawn']>>;
interface Request {
  key: string;
  body: { denomination: number; campaign_id: string };
}
interface Sent {
  status: number;
  text: string;
}
interface Used {
  links: number;
  amount: number;
}

describe('limits over two processes', () => {
  let gift: GiftCards;
  let bundle: BundledApp;
  const processes: Process[] = [];
  beforeAll(async () => {
    gift = await GiftCards.start();
    bundle = await BundledApp.build('gift-cards');
    for (let count = 0; count < 2; count += 1) processes.push(await start());
  });
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.kill('SIGKILL')));
    await gift?.close();
  });

  const start = async (): Promise<Process> => {
    const started = await bundle.spawn(gift.environment());
    await started.ready();
    return started;
  };
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;
  const cents = (amount: number): number => Math.round(amount * 100);

  it(
    `are exact for ${CONCURRENT_REQUESTS} requests at once, whatever is cancelled, expires, is revealed or killed, in ${ROUNDS} rounds`,
    async () => {
      const pool = await gift.aPool(0);
      for (const entry of ENTRIES) await gift.addCards(pool, LINKS * ROUNDS + CONCURRENT_REQUESTS, entry);
      const limits = {
        links: { links: LINKS, per: 'campaign_id' },
        amount: { amount: AMOUNT, currency: 'EUR', per: 'campaign_id' },
        // A limit that all rounds share and never reach.
        all: { links: 1_000_000 },
      };
      for (const [id, limit] of Object.entries(limits))
        await http(gift.app, gift.admin)
          .put(`/admin/limits/${id}`)
          .send({ owner: gift.user.account, period: 'year', ...limit })
          .expect(200);

      /** Returns the use as the limits count it, and as a count of the links, from one snapshot. */
      const usesOf = async (campaign: string): Promise<Used> => {
        const [row] = await gift.database.query<Record<string, string>>(
          `select u.links, v.amount, count(*) as made, coalesce(sum(i.denomination), 0) as value
           from limit_usage('links', $1) u cross join limit_usage('amount', $1) v
           left join reward_links l on l.account = $2 and l.campaign_id = $1
             and (l.revealed_at is not null or l.expires_at > now())
           left join inventories i on i.id = l.inventory_id
           group by 1, 2`,
          [campaign, gift.user.account],
        );
        const { links, amount, made, value } = row!;
        const used = { links: Number(links), amount: Number(amount) };
        expect(used.links).toBeLessThanOrEqual(LINKS);
        expect(used.amount).toBeLessThanOrEqual(AMOUNT);
        // Without links, the left join makes `made` 1.
        if (used.links > 0) expect(used).toEqual({ links: Number(made), amount: Number(value) });
        return used;
      };

      /**
       * Returns undefined if there is no response. Repeats a 503, which a busy machine returns for a moment. Without
       * supertest, because the client would take most of the time.
       */
      const send = async (request: Request, process: Process): Promise<Sent | undefined> => {
        const { key, body } = request;
        const { url } = process;
        try {
          const response = await fetch(`${url}/pool/${pool}/reward-links?idempotencyKey=${key}`, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              'x-api-key': gift.user.key,
              'x-created-by': 'tests',
            },
            body: JSON.stringify(body),
          });
          const text = await response.text();
          if (response.status !== 503) return { status: response.status, text };
          await sleep(500);
          return await send(request, process);
        } catch {
          return undefined;
        }
      };

      let withoutResponse = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const campaign = `round-${round}`;
        // Every second round has amounts that do not add up to the limit.
        const denominations = (round % 2 ? ENTRIES : [EUR_25]).map(({ denomination }) => denomination);
        const aRequest = (): Request => ({
          key: randomUUID(),
          body: { ...aBody(), denomination: oneOf(denominations), campaign_id: campaign },
        });
        const requests = Array.from({ length: CONCURRENT_REQUESTS }, aRequest);
        let isOver = false;
        const looks = (async () => {
          while (!isOver) {
            await usesOf(campaign);
            await sleep(20);
          }
        })();
        looks.catch(() => undefined);
        try {
          // Kill again while no request has been left without a response.
          const isKilled = round % KILL_EVERY === FIRST_KILL || (round > FIRST_KILL && withoutResponse === 0);
          const victim = Math.floor(Math.random() * processes.length);
          const sent = requests.map((request, index) => send(request, processes[index % 2]!));
          if (isKilled) {
            // With the first response, because most of the others still wait then.
            await Promise.race(sent);
            await processes[victim]!.kill('SIGKILL');
          }
          let replies = await Promise.all(sent);
          if (isKilled) {
            withoutResponse += replies.filter((reply) => reply === undefined).length;
            processes[victim] = await start();
            // A client repeats requests without a response, with the same key.
            replies = await Promise.all(
              requests.map((request, index) => replies[index] ?? send(request, oneOf(processes))),
            );
          }

          let live: { link: Link; denomination: number }[] = [];
          const keep = ({ body: { denomination } }: Request, reply: Sent | undefined) => {
            if (reply?.status === 201) live.push({ link: JSON.parse(reply.text) as Link, denomination });
            else expect(reply).toEqual({ status: 409, text: 'LIMIT_REACHED' });
          };
          requests.forEach((request, index) => keep(request, replies[index]));
          const expected = () => ({
            links: live.length,
            amount: live.reduce((sum, { denomination }) => sum + cents(denomination), 0) / 100,
          });
          expect(await usesOf(campaign)).toEqual(expected());
          if (round % 2 === 0) expect(expected()).toEqual({ links: LINKS, amount: AMOUNT });
          // Requests for every denomination went on until the end, so not even the cheapest card still fits.
          else
            expect(live.length === LINKS || expected().amount + Math.min(...denominations) > AMOUNT).toBe(
              true,
            );

          // Cancellations, expiries and reveals race with new requests, which may get what they free.
          const [cancelled, expired, revealed, ...rest] = live;
          const again = Array.from({ length: 8 }, aRequest);
          const [, , , ...raced] = await Promise.all([
            http(oneOf(processes), gift.user).post(`/reward-links/${cancelled!.link.id}/cancel`).expect(200),
            gift.database.query(`
              begin;
              select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.giftCardCounting});
              update reward_links set expires_at = clock_timestamp() where id = '${expired!.link.id}';
              commit`),
            gift.reveal(revealed!.link.token),
            ...again.map((request) => send(request, oneOf(processes))),
          ]);
          live = [revealed!, ...rest];
          again.forEach((request, index) => keep(request, raced[index]));
          expect(await usesOf(campaign)).toEqual(expected());
          const { body } = await gift.get<LimitUsage>(`/limits/links/usage?value=${campaign}`);
          expect(body.links).toEqual({ limit: LINKS, used: live.length });
        } finally {
          isOver = true;
        }
        await looks;
      }
      expect(withoutResponse).toBeGreaterThan(0);
      await untilRelayed(gift.database);
      const reached = (await trackedEvents(gift.nats.url)).flatMap((event) =>
        event.type === 'limit_reached' ? [`${event.limit} ${event.value}`] : [],
      );
      expect(new Set(reached).size).toBe(reached.length);
      for (let round = 0; round < ROUNDS; round += 2)
        for (const limit of ['links', 'amount']) expect(reached).toContain(`${limit} round-${round}`);
      const report = await audit({ databaseUrl: gift.database.urls.admin });
      expect(report.output).toContain('Every card is in exactly one place');
      expect(report.passed).toBe(true);
      expect(
        await gift.database.query(
          'select deadlocks from pg_stat_database where datname = current_database()',
        ),
      ).toEqual([{ deadlocks: '0' }]);
    },
    120_000 + ROUNDS * 10_000,
  );
});
