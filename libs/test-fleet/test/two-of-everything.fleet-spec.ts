import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName } from '@perkway/domain';
import { untilEarlyInAMinute, waitFor } from '@perkway/testing';
import pg from 'pg';
import {
  AccountSetup,
  auditFleet,
  BROWSER,
  checkPromises,
  Load,
  reconcileAll,
  revocations,
  seededRandom,
  OFFER,
  OPERATION_NAMES,
  sendRequest,
  TestFleet,
  type Admin,
  type HttpResponse,
} from '../src';

/**
 * Two processes of each built app share one Postgres and one broker cluster under a mixed workload. The workload goes
 * through the load balancer; the tests call both processes of an app directly.
 */
const MIB = 1024 ** 2;
const ACCOUNT = 'pair';
/** Caches refresh every two seconds, later on a loaded machine. */
const SEEN_WITHIN_MS = 10_000;
const COUNTED_WITHIN_MS = 60_000;
/** Time for a single response; only a hanging process needs longer. */
const RESPONSE_LIMIT_MS = 60_000;
/** More than the five seconds promised, which refreshing-cache.spec.ts tests with a fake clock. */
const REVOKED_WITHIN_MS = 20_000;
const KEY_LIMIT = 200;
const MAX_ATTEMPTS = 60;
const CONCURRENT_REQUESTS = 10;

interface Link {
  id: string;
  token: string;
}
interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: object;
}

describe('two replicas of every app', () => {
  let fleet: TestFleet;
  let load: Load;
  let key: string;
  let database: pg.Pool;
  let setup: AccountSetup;
  let pool: string;
  const expires = Math.floor(Date.now() / 1_000) + 86_400;

  beforeAll(async () => {
    fleet = await TestFleet.start({
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
    setup = new AccountSetup(fleet.admin, ACCOUNT);
    key = (await setup.aKey()).key;
    pool = await setup.aPool(600);
    await setup.putPerks(['pair-perk'], { title: 'Before', offer_url: `${OFFER}/before` });
    await setup.putCollection('pair', ['pair-perk'], 'Before');
    await setup.putCampaign('pair', ['pair-perk']);
  }, 600_000);
  afterAll(async () => {
    await load?.stop();
    await database?.end();
    await fleet?.stop();
  });

  const both = (app: AppName) => fleet.replicas[app].map(({ url }) => url) as [string, string];
  const sendOnce = (url: string, sent: Sent) => sendRequest(url, sent, { timeout: RESPONSE_LIMIT_MS });
  /** Retries on 503, which an overloaded machine returns for a moment. */
  const insist = async (url: string, sent: Sent): Promise<HttpResponse> => {
    for (let tries = 1; ; tries += 1) {
      const response = await sendOnce(url, sent);
      if (response.status !== 503 || tries === MAX_ATTEMPTS) return response;
      await sleep(500);
    }
  };
  /** Sends a request of the account to one process. */
  const send = (url: string, { headers, ...sent }: Sent = {}): Promise<HttpResponse> =>
    insist(url, { ...sent, headers: { 'x-api-key': key, ...headers } });
  const times = async <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> => {
    const results: T[] = [];
    for (let from = 0; from < count; from += CONCURRENT_REQUESTS)
      results.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(CONCURRENT_REQUESTS, count - from) }, (_, index) =>
            work(from + index),
          ),
        )),
      );
    return results;
  };
  const body = <Body>({ status, text }: HttpResponse, expected = 200): Body => {
    if (status !== expected) throw new Error(`expected ${expected}, got ${status}: ${text}`);
    return JSON.parse(text) as Body;
  };
  /** Calls one process with the ADMIN key. */
  const adminAt =
    (at: string): Admin =>
    async (_, method, path, given) =>
      body(
        await send(at + path, {
          method,
          headers: { 'x-api-key': fleet.secrets.adminKey },
          body: given as object,
        }),
      );
  const setupAt = (at: string) => new AccountSetup(adminAt(at), ACCOUNT);

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
  const cardIn = (response: HttpResponse) => body<{ card: { code: string } }>(response).card.code;
  /** The pool's numbers, which must be the same at each gift-cards process. */
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
  /** Waits until each analytics-query process returns `count` for the measure. */
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
            await sendOnce(url, { headers: { authorization: token } }),
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

  it('creates one link for an idempotency key sent to both at once', async () => {
    const KEYS = 60;
    const [one, two] = both('gift-cards');
    const before = await numbers();
    await times(KEYS, async () => {
      const idempotencyKey = randomUUID();
      const responses = await Promise.all(
        [one, two, two, one].map((at) => generate(at, idempotencyKey, 'pair-keys')),
      );
      expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
      const first = responses.filter(({ headers }) => headers['idempotent-replayed'] !== 'true');
      // Zero if the first response was a 503 after the link was created.
      expect(first.length).toBeLessThanOrEqual(1);
    });
    expect(await numbers()).toEqual({
      ...before,
      available: before.available! - KEYS,
      reserved: before.reserved! + KEYS,
    });
    await expectLinks(KEYS, 'pair-keys', 'generated');
  });

  it('rejects one of two bodies sent to both at once with the same idempotency key', async () => {
    const KEYS = 30;
    const [one, two] = both('gift-cards');
    const before = await numbers();
    await times(KEYS, async () => {
      const idempotencyKey = randomUUID();
      const responses = await Promise.all([
        generate(one, idempotencyKey, 'pair-bodies'),
        generate(two, idempotencyKey, 'pair-bodies', { expires_at: expires + 60 }),
      ]);
      const [made, refused] = responses.sort((a, b) => a.status - b.status) as [HttpResponse, HttpResponse];
      expect([made.status, refused.status, refused.text]).toEqual([201, 409, 'IDEMPOTENCY_KEY_CONFLICT']);
    });
    expect((await numbers()).available).toBe(before.available! - KEYS);
    await expectLinks(KEYS, 'pair-bodies', 'generated');
  });

  it('reveals one card and records one event when both get a reveal at once', async () => {
    const LINKS = 40;
    const [gifts, [one, two]] = [both('gift-cards'), both('allocation-page')];
    const before = await numbers();
    const cards = await times(LINKS, async (index) => {
      const link = await aLink(gifts[index % 2]!, 'pair-reveals');
      const responses = await Promise.all([one, two, two, one].map((at) => reveal(at, link)));
      const codes = new Set(responses.map(cardIn));
      expect(codes.size).toBe(1);
      return [...codes][0]!;
    });
    expect(new Set(cards).size).toBe(LINKS);
    expect((await numbers()).redeemed).toBe(before.redeemed! + LINKS);
    await expectLinks(LINKS, 'pair-reveals', 'revealed');
  });

  it('lets either a concurrent reveal or cancellation win', async () => {
    const LINKS = 60;
    const [gifts, pages] = [both('gift-cards'), both('allocation-page')];
    const before = await numbers();
    const race = async (index: number, lateMs: number) => {
      const link = await aLink(gifts[index % 2]!, 'pair-races');
      const [cancelled, revealed] = await Promise.all([
        // A reveal takes longer to arrive, so the cancellation starts later.
        sleep(lateMs).then(() =>
          send(`${gifts[index % 2]}/reward-links/${link.id}/cancel`, { method: 'POST' }),
        ),
        reveal(pages[(index + 1) % 2]!, link),
      ]);
      const states = await Promise.all(
        pages.map(async (at) => {
          const response = await insist(`${at}/api/reward-link`, {
            headers: { ...BROWSER, authorization: `Bearer ${link.token}` },
          });
          return body<{ state: string }>(response).state;
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
    };
    const ends: string[] = [];
    const of = (end: string) => ends.filter((each) => each === end).length;
    // Both outcomes must occur, or there was no race. Reveals take longer on a busy machine.
    for (let pace = 2; pace <= 64 && of('revealed') * of('cancelled') === 0; pace *= 2)
      ends.push(...(await times(LINKS, (index) => race(index, pace * index))));
    expect(of('revealed') * of('cancelled')).toBeGreaterThan(0);
    expect((await numbers()).redeemed).toBe(before.redeemed! + of('revealed'));
    await expectLinks(of('revealed'), 'pair-races', 'revealed');
    await expectLinks(of('cancelled'), 'pair-races', 'cancelled');
  });

  it('counts one view per second, campaign and address over both, and misses none', async () => {
    const ADDRESSES = ['192.0.2.1', '192.0.2.2', '2001:db8::1'];
    // Without several seconds the test proves nothing.
    const SURE_SECONDS = 3;
    const [one, two] = both('boost');
    const second = (at: number) => Math.floor(at / 1_000);
    /**
     * By address: seconds that must have a view (request and response in the same second), and seconds that may have
     * one.
     */
    const seconds = new Map(
      ADDRESSES.map((address) => [address, { sure: new Set<number>(), may: new Set<number>() }]),
    );
    const request = async (address: string, at: string, kind: string) => {
      const { sure, may } = seconds.get(address)!;
      while (sure.size < SURE_SECONDS) {
        const from = second(Date.now());
        const { status } = await sendOnce(
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
        [one, two].flatMap((at) => ['teaser', 'reward'].map((kind) => request(address, at, kind))),
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
      await waitFor(
        async () => expect(await counted(address)).toEqual(expect.arrayContaining([...sure])),
        `the views of ${address}`,
        COUNTED_WITHIN_MS,
      );
      const all = await counted(address);
      expect(new Set(all).size).toBe(all.length);
      expect([...may]).toEqual(expect.arrayContaining(all));
    }
  });

  describe('an edit at one is visible at the other within seconds:', () => {
    const seen = (what: string, look: () => Promise<void>) => waitFor(look, what, SEEN_WITHIN_MS);
    interface Collection {
      groups: { name: string }[];
      perks: { title: string; click_url: string }[];
    }
    const read = async (at: string) => body<Collection>(await send(`${at}/perk-collections/pair`));
    const followed = async (at: string, clickUrl: string) => {
      const { pathname, search } = new URL(clickUrl);
      return (await insist(at + pathname + search, { headers: BROWSER })).headers.location;
    };

    it('a perk, in reads and redirects', async () => {
      const [one, two] = both('perks');
      const { perks } = await read(two);
      const click = perks[0]!.click_url;
      for (const at of both('links')) expect(await followed(at, click)).toMatch(`${OFFER}/before`);
      await setupAt(one).putPerks(['pair-perk'], { title: 'After', offer_url: `${OFFER}/after` });
      await seen('the title', async () => expect((await read(two)).perks[0]!.title).toBe('After'));
      for (const at of both('links'))
        await seen('the offer', async () => expect(await followed(at, click)).toMatch(`${OFFER}/after`));
    });

    it('a collection', async () => {
      const [one, two] = both('perks');
      expect((await read(one)).groups[0]!.name).toBe('Before');
      await setupAt(two).putCollection('pair', ['pair-perk'], 'After');
      await seen('the group', async () => expect((await read(one)).groups[0]!.name).toBe('After'));
    });

    it('a campaign', async () => {
      const [one, two] = both('boost');
      const rewardUrl = (at: string, perk: string) =>
        send(`${at}/outreach/campaign/pair/reward-url?perkId=${perk}`);
      expect((await rewardUrl(two, 'one')).status).toBe(400);
      await setupAt(one).putCampaign('pair', ['one']);
      await seen('the perk', async () => expect((await rewardUrl(two, 'one')).status).toBe(200));
      expect((await rewardUrl(two, 'pair-perk')).status).toBe(400);
    });

    it('a pool', async () => {
      const [one, two] = both('gift-cards');
      const product = async () =>
        body<{ product: { name: string } | null }>(await send(`${two}/pool/${pool}`)).product;
      expect(await product()).toBeNull();
      await adminAt(one)('gift-cards', 'PUT', `/admin/pools/${pool}`, {
        owner: ACCOUNT,
        product: { name: 'After' },
      });
      await seen('the product', async () => expect(await product()).toMatchObject({ name: 'After' }));
    });

    it('an account key, which works everywhere at once and nowhere after it is revoked', async () => {
      const fresh = await setup.aKey();
      const urls = [
        ...both('perks').map((at) => `${at}/perk-collections/pair`),
        ...both('boost').map((at) => `${at}/outreach/campaign/pair/reward-url?perkId=one`),
        ...both('gift-cards').map((at) => `${at}/pool/${pool}`),
        ...both('token-issuer').map((at) => `${at}/cube/token`),
      ];
      const statusOf = async (url: string) =>
        (await send(url, { headers: { 'x-api-key': fresh.key } })).status;
      for (const url of urls) expect([url, await statusOf(url)]).toEqual([url, 200]);
      const [one] = both('token-issuer');
      const { status } = await send(`${one}/admin/accounts/${ACCOUNT}/keys/${fresh.id}`, {
        method: 'DELETE',
        headers: { 'x-api-key': fleet.secrets.adminKey },
      });
      expect(status).toBe(204);
      // Each is polled only until its first 401: more would reach the limit of failed attempts.
      await Promise.all(
        urls.map((url) => seen(`401 at ${url}`, async () => expect(await statusOf(url)).toBe(401))),
      );
    });
  });

  describe('one limit for both:', () => {
    it('wrong keys, tokens, reports and sign-ins per address', async () => {
      const from = (address: string) => ({ ...BROWSER, 'x-forwarded-for': address });
      const console = { origin: fleet.urls.console };
      const wrong = () => randomUUID().replaceAll('-', '');
      const failedAttempts: Record<
        string,
        { limit: number; status: number; failedAttempt: (round: number) => Promise<HttpResponse> }
      > = {
        keys: {
          limit: 60,
          status: 401,
          failedAttempt: (round) =>
            insist(`${both('perks')[round % 2]}/perk-collections/pair`, {
              headers: { ...from('198.51.100.1'), 'x-api-key': wrong() },
            }),
        },
        tokens: {
          limit: 60,
          status: 404,
          failedAttempt: (round) =>
            insist(`${both('allocation-page')[round % 2]}/api/reward-link`, {
              headers: { ...from('198.51.100.2'), authorization: `Bearer ${wrong()}` },
            }),
        },
        reports: {
          limit: 60,
          status: 404,
          failedAttempt: (round) =>
            insist(`${both('console')[round % 2]}/api/reports/read`, {
              method: 'POST',
              headers: { ...from('198.51.100.3'), ...console },
              body: { secret: wrong() },
            }),
        },
        'sign-ins': {
          limit: 10,
          status: 401,
          failedAttempt: (round) =>
            insist(`${both('console')[round % 2]}/api/session`, {
              method: 'POST',
              headers: { ...from('198.51.100.4'), ...console },
              body: { apiKey: wrong() },
            }),
        },
      };
      // One after the other, because together they take longer than a minute on a busy machine.
      for (const [what, { limit, status, failedAttempt }] of Object.entries(failedAttempts)) {
        await untilEarlyInAMinute(25_000);
        const statuses: number[] = [];
        for (let round = 0; round < 1.6 * limit; round += 1)
          statuses.push((await failedAttempt(round)).status);
        expect(new Set(statuses)).toEqual(new Set([status, 429]));
        const share = statuses.filter((each) => each === status).length / limit;
        expect([what, share >= 1]).toEqual([what, true]);
        // A few more pass while counts are in transit. Without sharing, all would pass.
        expect([what, share < 1.4]).toEqual([what, true]);
      }
    });

    it('requests per key and second, with headers that count both', async () => {
      const { key: own } = await setup.aKey();
      const [one, two] = both('perks');
      const left = async (at: string) => {
        const { headers } = await send(`${at}/perk-collections/pair`, { headers: { 'x-api-key': own } });
        expect(headers['ratelimit-limit']).toBe(String(KEY_LIMIT));
        return Number(headers['ratelimit-remaining']);
      };
      // A replica publishes its count after each fiftieth of the limit.
      const TURNS = KEY_LIMIT / 25;
      await waitFor(
        async () => {
          await Promise.all(Array.from({ length: TURNS }, () => left(one)));
          await sleep(20);
          // Retried if the requests fall into different seconds.
          expect(await left(two)).toBe(KEY_LIMIT - TURNS - 1);
        },
        'the count of the other replica',
        120_000,
      );
    });
  });

  it("rejects a key everywhere within seconds of its revocation, or of the brokers' return", async () => {
    const found = await revocations(fleet, undefined, REVOKED_WITHIN_MS);
    expect(found.flatMap(({ breaches }) => breaches)).toEqual([]);
  }, 600_000);

  it('has stored each acknowledged attempt once, and the audit passes', async () => {
    await load.stop();
    const { sums, examples } = await reconcileAll(fleet, load, COUNTED_WITHIN_MS);
    expect(examples).toEqual([]);
    for (const operation of OPERATION_NAMES) {
      const { acknowledged, lost, duplicated } = sums.get(0)!.get(operation)!;
      expect([operation, acknowledged > 0, lost, duplicated]).toEqual([operation, true, 0, 0]);
    }
    expect([...load.wrongResponses]).toEqual([]);
    expect(await checkPromises(load)).toEqual([]);
    const { passed, output } = await auditFleet(fleet);
    expect([passed, output]).toEqual([true, expect.any(String)]);
  });
});
