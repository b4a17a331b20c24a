import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName } from '@perkway/domain';
import { untilEarlyInAMinute, waitFor } from '@perkway/testing';
import pg from 'pg';
import {
  ask,
  audit,
  checkPromises,
  Load,
  reckonAll,
  revocations,
  seededRandom,
  SURFACE_NAMES,
  TrialFleet,
  type Answer,
} from '../src';

/**
 * Two processes of each built app at one Postgres and one group of brokers, under a mixed load that goes on until the end.
 * What has to hold over both of an app is asked of each directly; the load comes through the round robin.
 */
const MIB = 1024 ** 2;
const ACCOUNT = 'pair';
const OFFER = 'https://partner.example/pair';
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' };
/** Caches are refreshed every two seconds; a machine under load is slower. */
const SEEN_WITHIN_MS = 10_000;
const COUNTED_WITHIN_MS = 60_000;
const KEY_LIMIT = 200;
const MOST_TRIES = 10;
const AT_ONCE = 10;

interface Link {
  id: string;
  token: string;
}
interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: object;
}

describe('two of everything', () => {
  let fleet: TrialFleet;
  let load: Load;
  let key: string;
  let database: pg.Pool;
  const pool = randomUUID();
  const expires = Math.floor(Date.now() / 1_000) + 86_400;

  beforeAll(async () => {
    fleet = await TrialFleet.start({
      replicas: 2,
      streamBytes: 64 * MIB,
      brokerBytes: 256 * MIB,
      clockSetBackMs: 0,
      progress: () => undefined,
      variables: { perks: { RATE_LIMIT_PER_KEY: String(KEY_LIMIT) } },
    });
    database = new pg.Pool({ connectionString: fleet.database.admin, max: 2 });
    load = new Load(fleet, seededRandom(1));
    await load.prepare(2_000);
    load.start();
    await fleet.admin('token-issuer', 'PUT', `/admin/accounts/${ACCOUNT}`, { name: 'Pair' });
    key = (await aKey()).key;
    await fleet.admin('gift-cards', 'PUT', `/admin/pools/${pool}`, { owner: ACCOUNT });
    const cards = Array.from({ length: 500 }, (_, index) => `PAIR-${index},1234,25,EUR,FR`);
    await fleet.admin(
      'gift-cards',
      'POST',
      `/admin/pools/${pool}/cards`,
      `code,pin,denomination,currency,country\n${cards.join('\n')}\n`,
      'text/csv',
    );
    await putPerk(fleet.urls.perks, 'Before', `${OFFER}/before`);
    await putCollection(fleet.urls.perks, 'Before');
    await putCampaign(fleet.urls.boost, ['pair-perk']);
  }, 180_000);
  afterAll(async () => {
    await load?.stop();
    await database?.end();
    await fleet?.stop();
  }, 60_000);

  const both = (app: AppName) => fleet.replicas[app].map(({ url }) => url) as [string, string];
  /** A machine with more to do than it can is 503 for a moment, and whoever asked asks again. */
  const insist = async (url: string, sent: Sent): Promise<Answer> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await ask(url, sent);
      if (answer.status !== 503 || tries === MOST_TRIES) return answer;
      await sleep(500);
    }
  };
  /** As a client of the account, at one process. */
  const send = (url: string, { headers, ...sent }: Sent = {}): Promise<Answer> =>
    insist(url, { ...sent, headers: { 'x-api-key': key, ...headers } });
  const times = async <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> => {
    const results: T[] = [];
    for (let from = 0; from < count; from += AT_ONCE)
      results.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => work(from + index)),
        )),
      );
    return results;
  };
  const body = <Body>({ status, text }: Answer, expected = 200): Body => {
    if (status !== expected) throw new Error(`${status} instead of ${expected}: ${text}`);
    return JSON.parse(text) as Body;
  };
  const put = async (url: string, given: object) =>
    void body(
      await send(url, { method: 'PUT', headers: { 'x-api-key': fleet.secrets.adminKey }, body: given }),
    );

  const aKey = () =>
    fleet.admin<{ id: string; key: string }>('token-issuer', 'POST', `/admin/accounts/${ACCOUNT}/keys`, {
      role: 'USER',
    });
  const putPerk = (at: string, title: string, offerUrl: string) =>
    put(`${at}/admin/perks/pair-perk`, {
      title,
      description: 'What it is.',
      callout: '20 % off',
      redemption_note: '',
      details: '',
      offer_url: offerUrl,
      offer_slug: 'pair',
      partner: { id: 'partner', name: 'Partner' },
      categories: [1],
    });
  const putCollection = (at: string, name: string) =>
    put(`${at}/admin/perk-collections/pair`, {
      owner: ACCOUNT,
      groups: [{ name, rank: 0, perks: [{ id: 'pair-perk', rank: 0 }] }],
    });
  const putCampaign = (at: string, incentives: string[]) =>
    put(`${at}/admin/campaigns/pair`, { owner: ACCOUNT, name: 'Pair', incentives });

  const generate = (at: string, idempotencyKey: string, by: string, given: object = {}) =>
    send(`${at}/pool/${pool}/reward-links?idempotencyKey=${idempotencyKey}`, {
      method: 'POST',
      headers: { 'x-created-by': by },
      body: { denomination: 25, currency: 'EUR', country: 'FR', expires_at: expires, ...given },
    });
  const aLink = async (at: string, by: string) => body<Link>(await generate(at, randomUUID(), by), 201);
  const reveal = (at: string, { token }: Link) =>
    insist(`${at}/api/reward-link/reveal`, {
      method: 'POST',
      headers: { ...BROWSER, authorization: `Bearer ${token}` },
    });
  const cardIn = (answer: Answer) => body<{ card: { code: string } }>(answer).card.code;
  /** As each process of gift-cards answers it. */
  const numbers = async () => {
    const [one, two] = await Promise.all(
      both('gift-cards').map(async (at) =>
        body<{ inventories: Record<string, number>[] }>(await send(`${at}/pool/${pool}`)),
      ),
    );
    expect(one).toEqual(two);
    const { available, reserved, redeemed } = one!.inventories[0]!;
    return { available, reserved, redeemed };
  };
  /** What each process of analytics-query counts, once it has counted so many. */
  const expectCounted = async (count: number, measure: string, where: Record<string, string>) => {
    const filters = Object.entries(where).map(([member, value]) => ({
      member,
      operator: 'equals',
      values: [value],
    }));
    const query = encodeURIComponent(JSON.stringify({ measures: [measure], filters }));
    const { token } = body<{ token: string }>(await send(`${fleet.urls['token-issuer']}/cube/token`));
    for (const at of both('analytics-query'))
      await waitFor(
        async () => {
          const url = `${at}/cubejs-api/v1/load?query=${query}`;
          const { data } = body<{ data: Record<string, string>[] }>(
            await ask(url, { headers: { authorization: token } }),
          );
          expect(Number(data[0]![measure])).toBe(count);
        },
        `${count} of ${measure}`,
        COUNTED_WITHIN_MS,
      );
  };
  const expectLinks = (count: number, by: string, state: string) =>
    expectCounted(count, 'reward_links.count', {
      'reward_links.created_by': by,
      'reward_links.state': state,
    });

  it('makes one link of an idempotency key that is sent to both at once', async () => {
    const KEYS = 60;
    const [one, two] = both('gift-cards');
    const before = await numbers();
    await times(KEYS, async () => {
      const idempotencyKey = randomUUID();
      const answers = await Promise.all(
        [one, two, two, one].map((at) => generate(at, idempotencyKey, 'pair-keys')),
      );
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      const first = answers.filter(({ headers }) => headers['idempotent-replayed'] !== 'true');
      // None, where the first answer was 503 after all.
      expect(first.length).toBeLessThanOrEqual(1);
    });
    expect(await numbers()).toEqual({
      ...before,
      available: before.available! - KEYS,
      reserved: before.reserved! + KEYS,
    });
    await expectLinks(KEYS, 'pair-keys', 'generated');
  }, 60_000);

  it('refuses one of two bodies that are sent to both at once with the same idempotency key', async () => {
    const KEYS = 30;
    const [one, two] = both('gift-cards');
    const before = await numbers();
    await times(KEYS, async () => {
      const idempotencyKey = randomUUID();
      const answers = await Promise.all([
        generate(one, idempotencyKey, 'pair-bodies'),
        generate(two, idempotencyKey, 'pair-bodies', { expires_at: expires + 60 }),
      ]);
      const [made, refused] = answers.sort((a, b) => a.status - b.status) as [Answer, Answer];
      expect([made.status, refused.status, refused.text]).toEqual([201, 409, 'IDEMPOTENCY_KEY_CONFLICT']);
    });
    expect((await numbers()).available).toBe(before.available! - KEYS);
    await expectLinks(KEYS, 'pair-bodies', 'generated');
  }, 60_000);

  it('reveals one card, and tells of it once, when both are asked for a link at once', async () => {
    const LINKS = 40;
    const [gifts, [one, two]] = [both('gift-cards'), both('allocation-page')];
    const before = await numbers();
    const cards = await times(LINKS, async (index) => {
      const link = await aLink(gifts[index % 2]!, 'pair-reveals');
      const answers = await Promise.all([one, two, two, one].map((at) => reveal(at, link)));
      const codes = new Set(answers.map(cardIn));
      expect(codes.size).toBe(1);
      return [...codes][0]!;
    });
    expect(new Set(cards).size).toBe(LINKS);
    expect((await numbers()).redeemed).toBe(before.redeemed! + LINKS);
    await expectLinks(LINKS, 'pair-reveals', 'revealed');
  }, 60_000);

  it('lets either a reveal or a cancellation win that are sent to both at once', async () => {
    const LINKS = 60;
    const [gifts, pages] = [both('gift-cards'), both('allocation-page')];
    const before = await numbers();
    const ends = await times(LINKS, async (index) => {
      const link = await aLink(gifts[index % 2]!, 'pair-races');
      const [cancelled, revealed] = await Promise.all([
        // Asking for a reveal has the longer way.
        sleep(2 * index).then(() =>
          send(`${gifts[index % 2]}/reward-links/${link.id}/cancel`, { method: 'POST' }),
        ),
        reveal(pages[(index + 1) % 2]!, link),
      ]);
      const states = await Promise.all(
        pages.map(async (at) => {
          const answer = await insist(`${at}/api/reward-link`, {
            headers: { ...BROWSER, authorization: `Bearer ${link.token}` },
          });
          return body<{ state: string }>(answer).state;
        }),
      );
      if (revealed.status === 200) {
        expect([cancelled.status, cancelled.text]).toEqual([409, 'LINK_ALREADY_REVEALED']);
        expect(states).toEqual(['REVEALED', 'REVEALED']);
        return 'revealed';
      }
      expect([revealed.status, cancelled.status]).toEqual([410, 200]);
      expect(states).toEqual(['EXPIRED', 'EXPIRED']);
      return 'cancelled';
    });
    const of = (end: string) => ends.filter((each) => each === end).length;
    // Otherwise it was no race.
    expect(of('revealed') * of('cancelled')).toBeGreaterThan(0);
    expect((await numbers()).redeemed).toBe(before.redeemed! + of('revealed'));
    await expectLinks(of('revealed'), 'pair-races', 'revealed');
    await expectLinks(of('cancelled'), 'pair-races', 'cancelled');
  }, 60_000);

  it('counts one view of a second, campaign and address, whichever of both is asked, and misses none', async () => {
    const ADDRESSES = ['192.0.2.1', '192.0.2.2', '2001:db8::1'];
    const SECONDS = 4;
    const [one, two] = both('boost');
    const until = Date.now() + SECONDS * 1_000;
    const second = (at: number) => Math.floor(at / 1_000);
    /** By address: the seconds in which a view was asked for and answered, and those in which it may have been counted. */
    const seconds = new Map(ADDRESSES.map((address) => [address, { sure: new Set(), may: new Set() }]));
    const asking = async (address: string, at: string, kind: string) => {
      const { sure, may } = seconds.get(address)!;
      while (Date.now() < until) {
        const from = second(Date.now());
        const { status } = await ask(
          `${at}/outreach/campaign/pair/tracking-pixel/${kind}?utm_content=${encodeURIComponent(address)}`,
          { headers: { ...BROWSER, 'x-forwarded-for': address } },
        );
        const to = second(Date.now());
        expect(status).toBe(200);
        if (from === to) sure.add(from);
        for (let each = from; each <= to; each += 1) may.add(each);
      }
    };
    await Promise.all(
      ADDRESSES.flatMap((address) =>
        [one, two].flatMap((at) => ['teaser', 'reward'].map((kind) => asking(address, at, kind))),
      ),
    );
    const counted = async (address: string) => {
      const { rows } = await database.query<{ second: number }>(
        `select extract(epoch from occurred_at)::int as second from analytics.tracking_events
         where account_id = $1 and campaign_id = 'pair' and utm_content = $2 order by 1`,
        [ACCOUNT, address],
      );
      return rows.map((row) => row.second);
    };
    for (const [address, { sure, may }] of seconds) {
      // Otherwise nothing was tried.
      expect(sure.size).toBeGreaterThan(1);
      await waitFor(
        async () => expect(await counted(address)).toEqual(expect.arrayContaining([...sure])),
        `the views of ${address}`,
        COUNTED_WITHIN_MS,
      );
      const all = await counted(address);
      expect(new Set(all).size).toBe(all.length);
      expect([...may]).toEqual(expect.arrayContaining(all));
    }
  }, 90_000);

  describe('an edit at one is seen by the other within seconds:', () => {
    const seen = (what: string, look: () => Promise<void>) => waitFor(look, what, SEEN_WITHIN_MS);
    interface Collection {
      groups: { name: string }[];
      perks: { title: string; click_url: string }[];
    }
    const read = async (at: string) => body<Collection>(await send(`${at}/perk-collections/pair`));
    const followed = async (at: string, clickUrl: string) => {
      const { pathname, search } = new URL(clickUrl);
      return (await ask(at + pathname + search, { headers: BROWSER })).headers.location;
    };

    it('a perk, by reads and clicks', async () => {
      const [one, two] = both('perks');
      const { perks } = await read(two);
      const click = perks[0]!.click_url;
      for (const at of both('links')) expect(await followed(at, click)).toMatch(`${OFFER}/before`);
      await putPerk(one, 'After', `${OFFER}/after`);
      await seen('the title', async () => expect((await read(two)).perks[0]!.title).toBe('After'));
      for (const at of both('links'))
        await seen('the offer', async () => expect(await followed(at, click)).toMatch(`${OFFER}/after`));
    });

    it('a collection', async () => {
      const [one, two] = both('perks');
      expect((await read(one)).groups[0]!.name).toBe('Before');
      await putCollection(two, 'After');
      await seen('the group', async () => expect((await read(one)).groups[0]!.name).toBe('After'));
    });

    it('a campaign', async () => {
      const [one, two] = both('boost');
      const rewardUrl = (at: string, perk: string) =>
        send(`${at}/outreach/campaign/pair/reward-url?perkId=${perk}`);
      expect((await rewardUrl(two, 'one')).status).toBe(400);
      await putCampaign(one, ['one']);
      await seen('the perk', async () => expect((await rewardUrl(two, 'one')).status).toBe(200));
      expect((await rewardUrl(two, 'pair-perk')).status).toBe(400);
    });

    it('a pool', async () => {
      const [one, two] = both('gift-cards');
      const product = async () =>
        body<{ product: { name: string } | null }>(await send(`${two}/pool/${pool}`)).product;
      expect(await product()).toBeNull();
      await put(`${one}/admin/pools/${pool}`, { owner: ACCOUNT, product: { name: 'After' } });
      await seen('the product', async () => expect(await product()).toMatchObject({ name: 'After' }));
    });

    it('a key of an account, which opens everything at once and nothing after it was revoked', async () => {
      const fresh = await aKey();
      const asks = [
        ...both('perks').map((at) => `${at}/perk-collections/pair`),
        ...both('boost').map((at) => `${at}/outreach/campaign/pair/reward-url?perkId=one`),
        ...both('gift-cards').map((at) => `${at}/pool/${pool}`),
        ...both('token-issuer').map((at) => `${at}/cube/token`),
      ];
      const statuses = () =>
        Promise.all(
          asks.map(async (url) => (await send(url, { headers: { 'x-api-key': fresh.key } })).status),
        );
      expect(await statuses()).toEqual(asks.map(() => 200));
      const [one] = both('token-issuer');
      const { status } = await send(`${one}/admin/accounts/${ACCOUNT}/keys/${fresh.id}`, {
        method: 'DELETE',
        headers: { 'x-api-key': fleet.secrets.adminKey },
      });
      expect(status).toBe(204);
      await seen('the refusal', async () => expect(await statuses()).toEqual(asks.map(() => 401)));
    });
  });

  describe('a limit holds over both:', () => {
    it('of wrong keys, tokens, reports and sign-ins of an address', async () => {
      const from = (address: string) => ({ ...BROWSER, 'x-forwarded-for': address });
      const console = { origin: fleet.urls.console };
      const wrong = () => randomUUID().replaceAll('-', '');
      const guesses: Record<
        string,
        { limit: number; status: number; guess: (turn: number) => Promise<Answer> }
      > = {
        keys: {
          limit: 60,
          status: 401,
          guess: (turn) =>
            ask(`${both('perks')[turn % 2]}/perk-collections/pair`, {
              headers: { ...from('198.51.100.1'), 'x-api-key': wrong() },
            }),
        },
        tokens: {
          limit: 60,
          status: 404,
          guess: (turn) =>
            ask(`${both('allocation-page')[turn % 2]}/api/reward-link`, {
              headers: { ...from('198.51.100.2'), authorization: `Bearer ${wrong()}` },
            }),
        },
        reports: {
          limit: 60,
          status: 404,
          guess: (turn) =>
            ask(`${both('console')[turn % 2]}/api/reports/read`, {
              method: 'POST',
              headers: { ...from('198.51.100.3'), ...console },
              body: { secret: wrong() },
            }),
        },
        'sign-ins': {
          limit: 10,
          status: 401,
          guess: (turn) =>
            ask(`${both('console')[turn % 2]}/api/session`, {
              method: 'POST',
              headers: { ...from('198.51.100.4'), ...console },
              body: { apiKey: wrong() },
            }),
        },
      };
      await untilEarlyInAMinute(25_000);
      const admitted = await Promise.all(
        Object.entries(guesses).map(async ([what, { limit, status, guess }]) => {
          const statuses: number[] = [];
          for (let turn = 0; turn < 1.6 * limit; turn += 1) statuses.push((await guess(turn)).status);
          expect(new Set(statuses)).toEqual(new Set([status, 429]));
          return { what, share: statuses.filter((each) => each === status).length / limit };
        }),
      );
      for (const { what, share } of admitted) {
        expect([what, share >= 1]).toEqual([what, true]);
        // What was admitted while a message was on its way; each for itself they would have admitted all.
        expect([what, share < 1.4]).toEqual([what, true]);
      }
    }, 90_000);

    it('of requests of a key in a second, and the headers say what is left in both', async () => {
      const { key: own } = await aKey();
      const [one, two] = both('perks');
      const left = async (at: string) => {
        const { headers } = await send(`${at}/perk-collections/pair`, { headers: { 'x-api-key': own } });
        expect(headers['ratelimit-limit']).toBe(String(KEY_LIMIT));
        return Number(headers['ratelimit-remaining']);
      };
      // A replica tells of each fiftieth of the limit.
      const TURNS = KEY_LIMIT / 25;
      await waitFor(
        async () => {
          await Promise.all(Array.from({ length: TURNS }, () => left(one)));
          await sleep(20);
          // Both in one second, or it is tried again.
          expect(await left(two)).toBe(KEY_LIMIT - TURNS - 1);
        },
        'what the other has counted',
        20_000,
      );
    }, 30_000);
  });

  it('refuses a key everywhere within five seconds after it was revoked, or after the brokers are back', async () => {
    const found = await revocations(fleet);
    expect(found.flatMap(({ breaches }) => breaches)).toEqual([]);
  }, 90_000);

  it('has stored what it answered, once, and the audit passes', async () => {
    await load.stop();
    const { sums, examples } = await reckonAll(fleet, load, COUNTED_WITHIN_MS);
    expect(examples).toEqual([]);
    for (const surface of SURFACE_NAMES) {
      const { answered, lost, doubled } = sums.get(0)!.get(surface)!;
      expect([surface, answered > 0, lost, doubled]).toEqual([surface, true, 0, 0]);
    }
    expect([...load.wrong]).toEqual([]);
    expect(await checkPromises(load)).toEqual([]);
    const { passed, output } = await audit(fleet);
    expect([passed, output]).toEqual([true, expect.any(String)]);
  }, 180_000);
});
