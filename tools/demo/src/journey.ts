import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { MARKS, masked, short, shownHeaders, shownUrl } from './show.js';

export type Host = 'perks' | 'links' | 'boost' | 'gift' | 'rewards' | 'token' | 'query';
export interface StackAccount {
  id: string;
  userKey: string;
  collections: string[];
  campaigns: string[];
  pools: string[];
}
/** What `npm start` writes about the stack that runs, as far as the demo needs it. */
export interface Stack {
  hosts: Partial<Record<Host, string>>;
  accounts: StackAccount[];
}

/** The journey cannot go on. The message is one sentence for the person who started it. */
export class DemoError extends Error {}

const TIMEOUT_MS = 10_000;
/** Customers come with a browser; anything else is counted as a bot. */
const BROWSER = {
  'User-Agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0',
};
/** Teaser and reward pixels of a campaign share a budget of one view per second and source address. */
const PIXEL_BUDGET_MS = 1_100;

export interface Call {
  method?: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Statuses that let the journey go on. */
  expect?: number[];
}
export interface Answer {
  status: number;
  headers: Headers;
  // The shapes are those of the HTTP contract; a wrong one fails the step that uses it.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** One run: who travels, what was learned on the way, and what must be counted in the end. */
export class Journey {
  /** Marks everything this run does, so that it finds its own traces among those of others. */
  readonly run = `demo-${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}-${randomUUID().slice(0, 4)}`;
  readonly did = {
    perkViews: 0,
    perkClicks: 0,
    teaserViews: 0,
    rewardViews: 0,
    incentiveClicks: 0,
    conversions: 0,
    conversionValue: 0,
    linksGenerated: 0,
    linksRevealed: 0,
  };
  collection = '';
  perkId = '';
  clickUrl = '';
  singleUsePerk = '';
  campaign = '';
  incentive = '';
  rewardUrl = '';
  rewardToken = '';
  analyticsToken = '';

  constructor(
    readonly stack: Stack,
    readonly account: StackAccount,
    readonly print: (line: string) => void,
  ) {}

  /** Base URL of a host; a step names the hosts it needs, so it is there. */
  at(host: Host, path: string): string {
    return `${this.stack.hosts[host]}${path}`;
  }

  get key(): Record<string, string> {
    return { 'X-API-Key': this.account.userKey };
  }

  /** The URL with the marks of this run. */
  marked(url: string, more: Record<string, string> = {}): string {
    const result = new URL(url);
    for (const [name, value] of Object.entries(more)) result.searchParams.set(name, value);
    for (const name of MARKS) result.searchParams.set(name, this.run);
    return result.href;
  }

  say(line: string): void {
    this.print(`      ${line}`);
  }

  /** Sends one request and prints it with its status. Redirects are shown, not followed. */
  async call({ method = 'GET', url, headers = {}, body, expect = [200] }: Call): Promise<Answer> {
    this.say(`${method} ${shownUrl(url)}`);
    if (Object.keys(headers).length > 0 && shownHeaders(headers)) this.say(`     ${shownHeaders(headers)}`);
    if (body !== undefined) this.say(`     ${short(JSON.stringify(body), 150)}`);
    const answer = await send(method, url, headers, body);
    if (!expect.includes(answer.status)) throw refusal(method, url, answer);
    this.say(`→ ${answer.status} ${answer.headers.get('Content-Type') ?? ''}`.trimEnd());
    return answer;
  }
}

export async function send(
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method,
      headers: body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const json = (response.headers.get('Content-Type') ?? '').includes('json');
    return {
      status: response.status,
      headers: response.headers,
      body: json ? JSON.parse(bytes.toString()) : bytes,
    };
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = (cause as Error | undefined)?.message || message;
    throw new DemoError(
      `${new URL(url).origin} does not answer (${reason}). Is the stack still running (npm start)?`,
    );
  }
}

export function refusal(method: string, url: string, { status, body }: Answer): DemoError {
  const said: unknown = Buffer.isBuffer(body)
    ? body.toString()
    : (body?.detail ?? body?.error ?? JSON.stringify(body));
  return new DemoError(`${method} ${shownUrl(url)} answered ${status}: ${short(String(said), 300)}`);
}

export interface Step {
  title: string;
  /** Without one of these hosts the step is skipped. */
  needs: Host[];
  run: (journey: Journey) => Promise<void>;
}

interface Perk {
  id: string;
  title: string;
  callout: string;
  click_url: string;
  is_coupon_perk?: boolean;
}

interface Inventory {
  denomination: number;
  currency: string;
  country: string;
  available: number;
}

const pixel = (kind: 'teaser' | 'reward', counted: 'teaserViews' | 'rewardViews'): Step => ({
  title: `The customer opens the message: its ${kind} pixel is loaded`,
  needs: ['boost'],
  run: async (j) => {
    await sleep(PIXEL_BUDGET_MS);
    const path = `/outreach/campaign/${j.campaign}/tracking-pixel/${kind}`;
    const { body } = await j.call({
      url: j.marked(j.at('boost', path), { journeyId: j.run }),
      headers: BROWSER,
    });
    j.did[counted] += 1;
    j.say(`an image of ${(body as Buffer).length} bytes`);
  },
});

const conversion = (title: string, counts: boolean): Step => ({
  title,
  needs: ['boost'],
  run: async (j) => {
    const value = 49.9;
    await j.call({
      method: 'POST',
      url: j.marked(j.at('boost', `/track/${j.campaign}`)),
      headers: j.key,
      body: {
        event: 'conversion',
        journeyId: j.run,
        perkId: j.incentive,
        value,
        currency: 'GBP',
        externalId: j.run,
      },
      expect: [202],
    });
    if (!counts) return;
    j.did.conversions += 1;
    j.did.conversionValue += value;
  },
});

/** The journey of one customer, in the order in which it happens. */
export const STEPS: Step[] = [
  {
    title: 'The client asks which collections it has',
    needs: ['perks'],
    run: async (j) => {
      const { body } = await j.call({ url: j.at('perks', '/perk-collections'), headers: j.key });
      j.collection = (body as string[]).find((id) => id === j.account.collections[0]) ?? body[0];
      if (!j.collection)
        throw new DemoError(`The account ${j.account.id} has no collection; was the demo data applied?`);
      j.say((body as string[]).join(', '));
    },
  },
  {
    title: 'Its content sync reads a collection: not counted as a view',
    needs: ['perks'],
    run: async (j) => {
      const url = j.marked(j.at('perks', `/perk-collections/${j.collection}`), { show_coupon_perks: 'true' });
      const { body } = await j.call({ url, headers: { ...j.key, 'X-Disable-View-Tracking': 'true' } });
      const perks = body.perks as Perk[];
      j.singleUsePerk = perks.find((perk) => perk.is_coupon_perk)?.id ?? '';
      j.say(`${perks.length} perks in ${body.groups.length} groups`);
    },
  },
  {
    title: 'A customer in France, reading French, sees the collection',
    needs: ['perks'],
    run: async (j) => {
      const url = j.marked(j.at('perks', `/perk-collections/${j.collection}`), { location_country: 'FR' });
      const { body, headers } = await j.call({ url, headers: { ...j.key, 'Accept-Language': 'fr-FR' } });
      const perks = body.perks as Perk[];
      if (perks.length === 0) throw new DemoError(`The collection ${j.collection} has no perk for France.`);
      j.did.perkViews += perks.length;
      j.perkId = perks[0]!.id;
      j.say(
        `${perks.length} perks, in ${headers.get('Content-Language') ?? 'an unknown language'}; the first of them:`,
      );
      for (const perk of perks.slice(0, 3)) j.say(`  ${perk.title} (${perk.callout})`);
    },
  },
  {
    title: 'The customer opens one perk',
    needs: ['perks'],
    run: async (j) => {
      const url = j.marked(j.at('perks', `/perk-collections/${j.collection}/perk/${j.perkId}`));
      const { body } = await j.call({ url, headers: { ...j.key, 'Accept-Language': 'fr-FR' } });
      j.did.perkViews += 1;
      j.clickUrl = body.click_url;
      j.say(`${body.title}, with the fresh link ${shownUrl(j.clickUrl)}`);
    },
  },
  {
    title: 'The customer clicks Redeem',
    needs: ['perks', 'links'],
    run: async (j) => {
      const { headers } = await j.call({
        url: j.marked(j.clickUrl, { journeyId: j.run }),
        headers: BROWSER,
        expect: [302],
      });
      j.did.perkClicks += 1;
      j.say(`Location: ${headers.get('Location')}`);
    },
  },
  {
    title: 'The customer wants a single-use code (the same customer always gets the same one)',
    needs: ['perks'],
    run: async (j) => {
      const { body } = await j.call({
        method: 'POST',
        url: j.at('perks', `/perk-collections/${j.collection}/perk/${j.singleUsePerk}/coupon`),
        headers: j.key,
        body: { customer_id: 'demo-customer' },
        expect: [200, 201],
      });
      j.say(`the code ${masked(body.code)} of ${body.perk_id}, allocated at ${body.allocated_at}`);
    },
  },
  {
    title: 'The client reads what a campaign teases',
    needs: ['boost'],
    run: async (j) => {
      j.campaign = j.account.campaigns[0] ?? '';
      if (!j.campaign)
        throw new DemoError(`The account ${j.account.id} has no campaign; was the demo data applied?`);
      const url = j.marked(j.at('boost', `/teasers/${j.campaign}`), { journeyId: j.run });
      const { body } = await j.call({ url, headers: j.key });
      j.incentive = body.incentives[0].perkId;
      j.say((body.incentives as { title: string }[]).map(({ title }) => title).join('; '));
    },
  },
  {
    title: 'The client makes a tracked reward URL for its message',
    needs: ['boost'],
    run: async (j) => {
      const url = j.marked(j.at('boost', `/outreach/campaign/${j.campaign}/reward-url`), {
        perkId: j.incentive,
      });
      const { body } = await j.call({ url, headers: j.key });
      j.rewardUrl = body;
      j.say(shownUrl(j.rewardUrl));
    },
  },
  pixel('teaser', 'teaserViews'),
  pixel('reward', 'rewardViews'),
  {
    title: 'The customer follows the reward URL',
    needs: ['boost'],
    run: async (j) => {
      const url = j.marked(j.rewardUrl, { journeyId: j.run });
      const { headers } = await j.call({ url, headers: BROWSER, expect: [302] });
      j.did.incentiveClicks += 1;
      j.say(`Location: ${headers.get('Location')}`);
    },
  },
  conversion('The customer has bought something: the client reports the conversion', true),
  conversion('The client reports it again: the same externalId is counted once', false),
  {
    title: 'The client reserves a gift card and gets a reward link',
    needs: ['gift'],
    run: async (j) => {
      const { body: pools } = await j.call({ url: j.at('gift', '/pools'), headers: j.key });
      const entry = (pools as { id: string; inventories: Inventory[] }[])
        .flatMap(({ id, inventories }) => inventories.map((inventory) => ({ pool: id, ...inventory })))
        .filter(({ available }) => available > 0)
        .sort((one, other) => other.available - one.available)[0];
      if (!entry)
        throw new DemoError(
          `No pool of ${j.account.id} has a card left; npm start -- --fresh brings them back.`,
        );
      const { pool, denomination, currency, country, available } = entry;
      j.say(`${available} cards of ${denomination} ${currency} (${country}) are available`);

      const request = {
        method: 'POST' as const,
        url: j.at('gift', `/pool/${pool}/reward-links?idempotencyKey=${randomUUID()}`),
        headers: { ...j.key, 'X-Created-By': j.run },
        body: { denomination, currency, country, expires_at: Math.floor(Date.now() / 1000) + 3600 },
        expect: [201],
      };
      const first = await j.call(request);
      j.did.linksGenerated += 1;
      j.rewardToken = first.body.token;
      j.say(`the link ${shownUrl(first.body.reward_link)}`);

      const again = await j.call(request);
      if (again.body.token !== j.rewardToken)
        throw new DemoError('The replay with the same idempotencyKey made another link.');
      j.say('the same idempotencyKey replays the same link and reserves no second card');
    },
  },
  {
    title: 'The recipient opens the link: nothing is revealed yet',
    needs: ['gift', 'rewards'],
    run: async (j) => {
      const { body } = await j.call({
        url: j.at('rewards', '/api/reward-link'),
        headers: { Authorization: `Bearer ${j.rewardToken}` },
      });
      j.say(`${body.state}: ${body.denomination} ${body.currency}`);
    },
  },
  {
    title: 'The recipient presses the button',
    needs: ['gift', 'rewards'],
    run: async (j) => {
      const { body } = await j.call({
        method: 'POST',
        url: j.at('rewards', '/api/reward-link/reveal'),
        headers: { Authorization: `Bearer ${j.rewardToken}` },
      });
      j.did.linksRevealed += 1;
      j.say(`${body.state}: the card ${masked(body.card.code)}${body.card.pin ? ' with a PIN' : ''}`);
    },
  },
  {
    title: 'The client trades its key for an analytics token',
    needs: ['token'],
    run: async (j) => {
      const { body } = await j.call({ url: j.at('token', '/cube/token'), headers: j.key });
      j.analyticsToken = body.token;
      j.say(`the token ${masked(body.token)}, good until ${new Date(body.expiration).toISOString()}`);
    },
  },
];
