import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '@perkway/audit';
import { BundledApp, http, type AppProcess, trackedEvents, waitFor } from '@perkway/testing';
import type { RewardLink } from '../src/reward-links/issued-link.dto.js';
import { aBody, GiftCards, inSeconds, linkIdOf, type Link } from './support.js';

/** Full runs take 5,000 rounds and 500 links; the defaults are smaller to keep tests fast. */
const ROUNDS = Number(process.env.GIFT_RACE_ROUNDS ?? 100);
const LINKS = Number(process.env.GIFT_ENDS_LINKS ?? 40);
const KILLS = 3;
const CONCURRENT_ROUNDS = 20;

type End = 'revealed' | 'cancelled' | 'expired';
const ENDS: readonly (End | 'none')[] = ['revealed', 'cancelled', 'expired', 'none'];
type HttpResponse = { status: number; text: string; body: RewardLink };

describe('every link ends in exactly one state', () => {
  let gift: GiftCards;
  let bundle: BundledApp;
  beforeAll(async () => {
    gift = await GiftCards.start();
    bundle = await BundledApp.build('gift-cards');
  });
  afterAll(() => gift?.close());
  const spawned: AppProcess[] = [];
  // Stops the replicas even if a test fails.
  afterEach(() => Promise.all(spawned.splice(0).map((replica) => replica.kill('SIGKILL'))));
  const spawn = async () => {
    const replica = await bundle.spawn(gift.environment());
    spawned.push(replica);
    return replica;
  };

  const expectAudit = async () => {
    const report = await audit({ databaseUrl: gift.database.urls.admin });
    expect(report.output).toContain('Every card is in exactly one place');
    expect(report.passed).toBe(true);
  };
  const cancel = async (link: Link, url: string): Promise<HttpResponse> =>
    http({ url }, gift.user).post(`/reward-links/${link.id}/cancel`);
  const stateOf = async (link: Link): Promise<RewardLink> =>
    (await http(gift.app, gift.user).get(`/reward-links/${link.id}`).expect(200)).body;
  /** Returns the states in the stream by link, repeated if an event was. */
  const published = async (): Promise<Map<string, string[]>> => {
    const states = new Map<string, string[]>();
    for (const event of await trackedEvents(gift.nats.url))
      if (event.type === 'reward_link') {
        const id = event.id.split(':')[0]!;
        states.set(id, [...(states.get(id) ?? []), event.state]);
      }
    return states;
  };
  const expectTold = async (ends: Map<string, End | 'none'>) => {
    const wanted = [...ends].map(([id, end]) => [
      id,
      end === 'none' ? ['generated'] : ['generated', end].sort(),
    ]);
    await waitFor(
      async () => {
        const states = await published();
        expect(wanted.map(([id]) => [id, states.get(id as string)?.sort()])).toEqual(wanted);
      },
      'one event for each state of each link',
      60_000,
    );
  };

  it(`while two processes reserve, cancel and reveal around its expiry, in ${ROUNDS} rounds of one card`, async () => {
    const replicas = [await spawn(), await spawn()];
    await Promise.all(replicas.map((replica) => replica.ready()));
    const [one, two] = replicas.map(({ url }) => url) as [string, string];
    const ends = new Map<string, End | 'none'>();

    const round = async (number: number) => {
      const entry = { denomination: number + 1, currency: 'EUR', country: 'FR' };
      const pool = await gift.aPool(1, entry);
      const body = aBody({ denomination: entry.denomination });
      const old = await gift.aLink(pool, { body, url: one });
      const moment = 30 + Math.random() * 170;
      if (number % 2)
        await gift.database.query(
          `update reward_links set expires_at = clock_timestamp() + make_interval(secs => $2) where id = $1`,
          [old.id, moment / 1_000],
        );
      let isOver = false;
      const looking = async () => {
        while (!isOver) {
          const [seen] = await gift.numbers(pool);
          expect(seen!.available + seen!.reserved + seen!.redeemed).toBe(1);
          expect(Math.min(seen!.available, seen!.reserved, seen!.redeemed)).toBe(0);
          await sleep(5);
        }
      };
      const soon = () => sleep(Math.random() * 1.5 * moment);
      const racing = Promise.all([
        soon().then(() => cancel(old, number % 3 ? one : two)),
        soon().then(() => gift.reveal(old.token)),
        soon().then(() => gift.generate<Link>(pool, { body, url: two })),
        sleep(moment + 10),
      ]).finally(() => (isOver = true));
      const [[cancelled, revealed, claimed]] = await Promise.all([racing, looking()]);

      const link = await stateOf(old);
      const wasClaimed = claimed.status === 201;
      if (!wasClaimed) expect(claimed).toMatchObject({ status: 409, body: 'NO_AVAILABLE_CARDS' });
      if (link.state === 'REVEALED') {
        expect([cancelled.status, cancelled.text]).toEqual([409, 'LINK_ALREADY_REVEALED']);
        expect(revealed.link?.card).toBeDefined();
        expect([link.cancelled_at, wasClaimed]).toEqual([null, false]);
      } else {
        expect(link.state).toBe('EXPIRED');
        expect(revealed).toMatchObject({ error: 'LINK_EXPIRED' });
        expect([cancelled.status, cancelled.body.cancelled_at]).toEqual([200, link.cancelled_at]);
        expect(await gift.reveal(old.token)).toMatchObject({ error: 'LINK_EXPIRED' });
      }
      ends.set(old.id, link.revealed_at ? 'revealed' : link.cancelled_at ? 'cancelled' : 'expired');
      if (!wasClaimed) return;
      expect((await gift.reveal(claimed.body.token)).link?.card).toBeDefined();
      ends.set(claimed.body.id, 'revealed');
    };

    for (let from = 0; from < ROUNDS; from += CONCURRENT_ROUNDS)
      await Promise.all(
        Array.from({ length: Math.min(CONCURRENT_ROUNDS, ROUNDS - from) }, (_, index) => round(from + index)),
      );
    // If one of them never won, nothing raced.
    expect(new Set(ends.values())).toEqual(new Set(['revealed', 'cancelled', 'expired']));
    await expectTold(ends);
    await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')));
    await expectAudit();
  }, 900_000);

  it(`and writes one event for each state of ${LINKS} links while processes are killed`, async () => {
    // Fewer cards than links, so that cards of expired and cancelled links are reused, before and after their event.
    const pool = await gift.aPool(Math.ceil(LINKS * 0.7));
    const replicas = await Promise.all([1, 2].map(() => spawn()));
    await Promise.all(replicas.map((replica) => replica.ready()));
    await gift.app.close();
    const ends = new Map<string, End | 'none'>();

    /** Retries on a random replica until the response is final. */
    const insist = async <T>(
      sendRequest: (url: string) => Promise<T>,
      isResponse: (response: T) => boolean,
    ): Promise<T> => {
      for (;;) {
        const { url } = replicas[Math.floor(Math.random() * replicas.length)]!;
        const response = await sendRequest(url).catch(() => undefined);
        if (response !== undefined && isResponse(response)) return response;
        await sleep(20);
      }
    };
    const live = async (number: number) => {
      // Links beyond LINKS, made until there are enough kills, are cancelled, so that they keep no card.
      const end = number < LINKS ? ENDS[number % ENDS.length]! : 'cancelled';
      const key = randomUUID();
      for (;;) {
        const body = aBody({
          reference: `r-${number}`,
          expires_at: inSeconds(end === 'expired' ? 3 : 3_600),
        });
        const { status, body: link } = await insist(
          (url) => gift.generate<Link>(pool, { key, body, url }),
          ({ status }) => status < 500,
        );
        // The expiry has passed during the retries, or all cards are reserved until some links end.
        if (status !== 201) {
          await sleep(100);
          continue;
        }
        expect(link.id.replaceAll('-', '')).toBe(linkIdOf(link.token));
        ends.set(link.id, end);
        if (end === 'revealed')
          await insist(
            () => gift.reveal(link.token),
            (reply) => reply.link?.state === 'REVEALED',
          );
        if (end === 'cancelled')
          await insist(
            (url) => cancel(link, url),
            ({ status }) => status === 200,
          );
        return;
      }
    };
    let isOver = false;
    let kills = 0;
    const killing = async () => {
      while (!isOver) {
        await sleep(300 + Math.random() * 700);
        const victim = kills % replicas.length;
        await replicas[victim]!.kill('SIGKILL');
        kills += 1;
        replicas[victim] = await spawn();
        await replicas[victim]!.ready();
      }
    };
    const killer = killing();
    let made = 0;
    const worker = async () => {
      while (made < LINKS || kills < KILLS) await live(made++);
    };
    try {
      await Promise.all([1, 2, 3].map(worker));
      // Keep killing while the expired events are written.
      await sleep(4_000);
      isOver = true;
      await killer;
      expect(ends.size).toBeGreaterThanOrEqual(LINKS);
      await expectTold(ends);
    } finally {
      isOver = true;
      await killer;
      await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')));
      gift.app = await gift.launch();
    }
    await expectAudit();
  }, 600_000);
});
