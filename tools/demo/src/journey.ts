import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createPerkway, PerkwayError, type Perkway } from '@perkway/client';
import { Receiver } from './receiver.js';
import { MARKS, masked, short, shownHeaders, shownUrl } from './show.js';

export type Host = 'perks' | 'links' | 'boost' | 'gift' | 'rewards' | 'token' | 'query' | 'events';
export interface StackAccount {
  id: string;
  userKey: string;
  collections: string[];
  campaigns: string[];
  pools: string[];
}
/** The part of the stack file that the demo needs. */
export interface Stack {
  hosts: Partial<Record<Host, string>>;
  accounts: StackAccount[];
}

/** A reason to stop the journey. The message is a sentence for the user. */
export class DemoError extends Error {}

const TIMEOUT_MS = 60_000;
/** Customers use a browser; anything else counts as a bot. */
const BROWSER = {
  'User-Agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0',
};
/** Pause before each pixel, because the teaser and reward pixels of a campaign share its view limit. */
const PIXEL_PAUSE_MS = 1_100;
const WEBHOOK = 'demo';
const DELIVERY_LIMIT_MS = 60_000;
const DELIVERY_POLL_MS = 250;

/** A request of the browser. */
export interface Call {
  method?: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  /** Expected statuses. */
  expect?: number[];
}
export interface HttpResponse {
  status: number;
  headers: Headers;
  // Typed by the HTTP contract only; an unexpected shape fails the step that uses it.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** One run: the customer, what the run has learned so far, and what must be counted in the end. */
export class Journey {
  /** Marks everything this run does, to tell it apart from other runs. */
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
  rewardLinkId = '';
  readonly receiver = new Receiver();
  /** Headers of the last response of any call; the methods of the client do not return them. */
  responseHeaders = new Headers();
  private last = '';
  /** The account's own service: an ordinary client whose calls are printed as they are sent. */
  readonly perkway: Perkway;

  constructor(
    readonly stack: Stack,
    readonly account: StackAccount,
    readonly print: (line: string) => void,
  ) {
    this.perkway = createPerkway({
      apiKey: account.userKey,
      hosts: stack.hosts,
      timeoutMs: TIMEOUT_MS,
      tries: 1,
      fetch: (input, init) => this.shown(new Request(input, init)),
    });
  }

  /** Returns a URL on a host. A step lists the hosts that it needs, so they exist. */
  at(host: Host, path: string): string {
    return `${this.stack.hosts[host]}${path}`;
  }

  /** The parameters that mark the calls of this run. */
  get marks(): { utm_campaign: string; cmeta_demo_run: string } {
    return { utm_campaign: this.run, cmeta_demo_run: this.run };
  }

  /** Returns the URL with the marks of this run. */
  marked(url: string, more: Record<string, string> = {}): string {
    const result = new URL(url);
    for (const [name, value] of Object.entries(more)) result.searchParams.set(name, value);
    for (const name of MARKS) result.searchParams.set(name, this.run);
    return result.href;
  }

  say(line: string): void {
    this.print(`      ${line}`);
  }

  /** Sends a request of the browser and prints it with its status. Redirects are shown, not followed. */
  async browse({ method = 'GET', url, headers = {}, expect = [200] }: Call): Promise<HttpResponse> {
    const response = await this.shown(new Request(url, { method, headers, redirect: 'manual' }), TIMEOUT_MS);
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = (response.headers.get('Content-Type') ?? '').includes('json');
    const reply = {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(bytes.toString()) : bytes,
    };
    if (!expect.includes(reply.status)) throw this.refused(reply);
    return reply;
  }

  private refused({ status, body }: HttpResponse): DemoError {
    const said: unknown = Buffer.isBuffer(body)
      ? body.toString()
      : (body?.detail ?? body?.error ?? JSON.stringify(body));
    return new DemoError(`${this.last} returned ${status}: ${short(String(said), 300)}`);
  }

  /** Explains a failed call of the client as a sentence for the user. */
  explained(error: PerkwayError): DemoError {
    if (error.cause instanceof DemoError) return error.cause;
    return new DemoError(`${this.last} returned ${error.status}: ${short(error.message, 300)}`);
  }

  /** Sends one request and prints it, and its status unless that is an error, which the caller reports. */
  private async shown(request: Request, timeoutMs?: number): Promise<Response> {
    const { method, url } = request;
    this.last = `${method} ${shownUrl(url)}`;
    this.say(this.last);
    const headers = shownHeaders(request.headers);
    if (headers) this.say(`     ${headers}`);
    const body = await request.clone().text();
    if (body) this.say(`     ${short(body, 150)}`);
    try {
      const response = await fetch(request, timeoutMs ? { signal: AbortSignal.timeout(timeoutMs) } : {});
      this.responseHeaders = response.headers;
      if (response.status < 400)
        this.say(`→ ${response.status} ${response.headers.get('Content-Type') ?? ''}`.trimEnd());
      return response;
    } catch (error) {
      const { message, cause } = error as Error;
      const reason = (cause as Error | undefined)?.message || message;
      throw new DemoError(
        `${new URL(url).origin} does not respond (${reason}). Is the stack still running (npm start)?`,
        { cause: error },
      );
    }
  }
}

export interface Step {
  title: string;
  /** The step is skipped if one of these hosts is missing. */
  needs: Host[];
  run: (journey: Journey) => Promise<void>;
}

const pixel = (kind: 'teaser' | 'reward', counted: 'teaserViews' | 'rewardViews'): Step => ({
  title: `The customer opens the message: its ${kind} pixel is loaded`,
  needs: ['boost'],
  run: async (j) => {
    await sleep(PIXEL_PAUSE_MS);
    const path = `/outreach/campaign/${j.campaign}/tracking-pixel/${kind}`;
    const { body } = await j.browse({
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
    await j.perkway.boost.trackJourneyEvent({
      ...j.marks,
      campaignId: j.campaign,
      event: 'conversion',
      journeyId: j.run,
      perkId: j.incentive,
      value,
      currency: 'GBP',
      externalId: j.run,
    });
    if (!counts) return;
    j.did.conversions += 1;
    j.did.conversionValue += value;
  },
});

/** The journey of one customer, in order. */
export const STEPS: Step[] = [
  {
    title: 'The client asks which collections it has',
    needs: ['perks'],
    run: async (j) => {
      const collections = await j.perkway.perks.listPerkCollections();
      j.collection = collections.find((id) => id === j.account.collections[0]) ?? collections[0] ?? '';
      if (!j.collection)
        throw new DemoError(`The account ${j.account.id} has no collection. Was the demo data applied?`);
      j.say(collections.join(', '));
    },
  },
  {
    title: 'Its content sync reads a collection: not counted as a view',
    needs: ['perks'],
    run: async (j) => {
      const { groups, perks } = await j.perkway.perks.getPerkCollection({
        ...j.marks,
        collectionId: j.collection,
        show_coupon_perks: true,
        disableViewTracking: true,
      });
      j.singleUsePerk = perks.find((perk) => perk.is_coupon_perk)?.id ?? '';
      j.say(`${perks.length} perks in ${groups.length} groups`);
    },
  },
  {
    title: 'A customer in France, reading French, sees the collection',
    needs: ['perks'],
    run: async (j) => {
      const { perks } = await j.perkway.perks.getPerkCollection({
        ...j.marks,
        collectionId: j.collection,
        location_country: 'FR',
        acceptLanguage: 'fr-FR',
      });
      const language = j.responseHeaders.get('Content-Language') ?? 'an unknown language';
      if (perks.length === 0) throw new DemoError(`The collection ${j.collection} has no perk for France.`);
      j.did.perkViews += perks.length;
      j.perkId = perks[0]!.id;
      j.say(`${perks.length} perks, in ${language}; the first of them:`);
      for (const perk of perks.slice(0, 3)) j.say(`  ${perk.title} (${perk.callout})`);
    },
  },
  {
    title: 'The customer opens one perk',
    needs: ['perks'],
    run: async (j) => {
      const perk = await j.perkway.perks.getPerkOfCollection({
        ...j.marks,
        collectionId: j.collection,
        perkId: j.perkId,
        acceptLanguage: 'fr-FR',
      });
      j.did.perkViews += 1;
      j.clickUrl = perk.click_url;
      j.say(`${perk.title}, with the fresh link ${shownUrl(j.clickUrl)}`);
    },
  },
  {
    title: 'The customer clicks Redeem',
    needs: ['perks', 'links'],
    run: async (j) => {
      const { headers } = await j.browse({
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
      const { code, perk_id, allocated_at } = await j.perkway.perks.allocateCouponCode({
        collectionId: j.collection,
        perkId: j.singleUsePerk,
        customer_id: 'demo-customer',
      });
      j.say(`the code ${masked(code)} of ${perk_id}, allocated at ${allocated_at}`);
    },
  },
  {
    title: 'The client reads the teasers of a campaign',
    needs: ['boost'],
    run: async (j) => {
      j.campaign = j.account.campaigns[0] ?? '';
      if (!j.campaign)
        throw new DemoError(`The account ${j.account.id} has no campaign. Was the demo data applied?`);
      const { incentives } = await j.perkway.boost.getTeasers({
        ...j.marks,
        campaignId: j.campaign,
        journeyId: j.run,
      });
      j.incentive = incentives[0]!.perkId;
      j.say(incentives.map(({ title }) => title).join('; '));
    },
  },
  {
    title: 'The client makes a tracked reward URL for its message',
    needs: ['boost'],
    run: async (j) => {
      j.rewardUrl = await j.perkway.boost.generateRewardUrl({
        ...j.marks,
        campaignId: j.campaign,
        perkId: j.incentive,
      });
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
      const { headers } = await j.browse({ url, headers: BROWSER, expect: [302] });
      j.did.incentiveClicks += 1;
      j.say(`Location: ${headers.get('Location')}`);
    },
  },
  conversion('The customer buys something: the client reports the conversion', true),
  conversion('The client reports it again: the same externalId is counted once', false),
  {
    title: 'The client creates a webhook, so that its server hears of opened gifts',
    needs: ['events', 'gift', 'rewards'],
    run: async (j) => {
      const url = await j.receiver.start();
      const { events } = j.perkway;
      // The secret of a webhook that an earlier run left behind cannot be shown again.
      const { data } = await events.listWebhooks();
      if (data.some(({ id }) => id === WEBHOOK)) await events.deleteWebhook({ webhookId: WEBHOOK });
      const made = await events.putWebhook({ webhookId: WEBHOOK, url, types: ['reward_link.revealed'] });
      if (!('secret' in made))
        throw new DemoError(`Another demo has created the webhook ${WEBHOOK} meanwhile.`);
      j.receiver.secret = made.secret;
      j.say(`its secret ${masked(made.secret)} is shown only once`);
    },
  },
  {
    title: 'The client reserves a gift card and gets a reward link',
    needs: ['gift'],
    run: async (j) => {
      const pools = await j.perkway.gift.getGiftCardPools();
      const entry = pools
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
        poolId: pool,
        createdBy: j.run,
        idempotencyKey: randomUUID(),
        denomination,
        currency,
        country,
        expires_at: Math.floor(Date.now() / 1000) + 3600,
      };
      const first = await j.perkway.gift.generateRewardLink(request);
      j.did.linksGenerated += 1;
      j.rewardToken = first.token;
      j.rewardLinkId = first.id;
      j.say(`the link ${shownUrl(first.reward_link)}`);

      const again = await j.perkway.gift.generateRewardLink(request);
      if (again.token !== j.rewardToken)
        throw new DemoError('The replay with the same idempotencyKey made another link.');
      j.say('the same idempotencyKey replays the same link and reserves no second card');
    },
  },
  {
    title: 'The recipient opens the link: nothing is revealed yet',
    needs: ['gift', 'rewards'],
    run: async (j) => {
      const { body } = await j.browse({
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
      const { body } = await j.browse({
        method: 'POST',
        url: j.at('rewards', '/api/reward-link/reveal'),
        headers: { Authorization: `Bearer ${j.rewardToken}` },
      });
      j.did.linksRevealed += 1;
      j.say(`${body.state}: the card ${masked(body.card.code)}${body.card.pin ? ' with a PIN' : ''}`);
    },
  },
  {
    title: 'The server of the client hears of the opened gift',
    needs: ['events', 'gift', 'rewards'],
    run: async (j) => {
      const event = await j.receiver.waitForEvent(`reward_link/${j.rewardLinkId}`, DELIVERY_LIMIT_MS);
      if (!event)
        throw new DemoError(
          `The webhook delivered no event about the opened gift within ${DELIVERY_LIMIT_MS / 1000} s.`,
        );
      j.say(`${event.type}, ${event.subject}, signed, under the id ${event.id}`);
      const { events } = j.perkway;
      // The result of the delivery is stored a moment after the server has responded.
      const deadline = Date.now() + DELIVERY_LIMIT_MS;
      for (let isDelivered = false; !isDelivered;) {
        if (Date.now() > deadline)
          throw new DemoError(`The delivery did not succeed within ${DELIVERY_LIMIT_MS / 1000} s.`);
        await sleep(DELIVERY_POLL_MS);
        const { data } = await events.listWebhookDeliveries({ webhookId: WEBHOOK });
        const delivery = data.find(({ event_id }) => event_id === event.id);
        j.say(`the delivery is ${delivery?.state ?? 'not listed yet'}, attempts: ${delivery?.attempts ?? 0}`);
        isDelivered = delivery?.state === 'delivered';
      }
      await events.deleteWebhook({ webhookId: WEBHOOK });
    },
  },
  {
    title: 'The client exchanges its key for an analytics token',
    needs: ['token'],
    run: async (j) => {
      const { token, expiration } = await j.perkway.token.issueCubeToken();
      j.say(`the token ${masked(token)}, valid until ${new Date(expiration).toISOString()}`);
    },
  },
];
