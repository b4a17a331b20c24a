import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName } from '@perkway/domain';
import { AccountSetup, OFFER } from './account-setup.js';
import { pick } from './random.js';
import { sendRequest, type Admin, type HttpResponse, type Request } from './send-request.js';

/** A browser's headers, so that the visit counts as human. */
export const BROWSER = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
};
/** Limit per operation. Attempts beyond it are skipped. */
const MAX_CONCURRENT = 40;
const RETRY_AFTER_MS = 250;
const GIVE_UP_AFTER_MS = 60_000;

export const OPERATIONS = {
  read: { perSecond: 20, retries: false },
  click: { perSecond: 20, retries: false },
  pixel: { perSecond: 10, retries: false },
  outreach: { perSecond: 10, retries: false },
  // The contract allows retries of these with the same externalId, idempotencyKey or link.
  conversion: { perSecond: 8, retries: true },
  generate: { perSecond: 10, retries: true },
  reveal: { perSecond: 5, retries: true },
  cancel: { perSecond: 2, retries: true },
  session: { perSecond: 3, retries: false },
  token: { perSecond: 1, retries: false },
  query: { perSecond: 3, retries: false },
} as const satisfies Record<string, { perSecond: number; retries: boolean }>;
export type Operation = keyof typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as Operation[];

/** One attempt at an operation. With retries it may take several requests. */
export interface Attempt {
  operation: Operation;
  /** Sent with the request and stored, to find the attempt in the databases. */
  id: string;
  /** The phase of the run in which it began. */
  phase: number;
  /** Milliseconds since the run began. */
  begunAt: number;
  /** When it was acknowledged, in milliseconds since the run began. Absent if it was not. */
  acknowledgedAt?: number;
  /** Number of its requests that got 503 or no response. */
  refusals: number;
  /** Id of the reward link, if it has one. */
  linkId?: string;
  /** The same in each retry. */
  idempotencyKey?: string;
}

/** URLs, tokens, cards and sessions that were handed out and must work at the end. */
export interface Promised {
  clickUrls: string[];
  outreachUrls: string[];
  /** By link id. */
  tokens: Map<string, string>;
  cards: Map<string, string>;
  sessions: string[];
}

/** Where a workload goes: a test fleet, or a stack in containers. */
export interface LoadTarget {
  urls: Record<AppName, string>;
  admin: Admin;
  /** Default: over a new connection, so that the load balancer picks a replica each time. */
  send?: (url: string, request: Request) => Promise<HttpResponse>;
}

/** A documented temporary refusal, or no response. */
class Refused extends Error {}

export const ACCOUNT = 'workload';
const COLLECTION = 'main';
const CAMPAIGN = 'campaign';
export const PERKS = ['one', 'two', 'three'];

/** Customers, recipients and client servers that keep sending requests, and a record of what was acknowledged. */
export class Load {
  readonly run = `run-${randomUUID().slice(0, 8)}`;
  readonly attempts: Attempt[] = [];
  readonly promised: Promised = {
    clickUrls: [],
    outreachUrls: [],
    tokens: new Map(),
    cards: new Map(),
    sessions: [],
  };
  /** Responses that no fault excuses, with their counts. */
  readonly wrongResponses = new Map<string, number>();
  phase = 0;
  private readonly began = performance.now();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly busy = new Map<Operation, number>();
  private readonly work = new Set<Promise<void>>();
  private readonly unusedLinkIds: string[] = [];
  private readonly lastAcknowledgedSentAt = new Map<Operation, number>();
  private readonly lastRefusal = new Map<Operation, string>();
  private isRunning = false;
  private isSigningIn = false;
  private key = '';
  private pool = '';
  private analyticsToken = '';

  constructor(
    private readonly fleet: LoadTarget,
    private readonly random: () => number,
    /** Multiplies the rates of the operations. */
    private readonly pace = 1,
    private readonly operations: readonly Operation[] = OPERATION_NAMES,
  ) {}

  /** Wrong responses as text, and as JSON the attempts that were refused or not acknowledged. */
  get failures(): string[] {
    const failed = this.attempts.filter(
      ({ acknowledgedAt, refusals }) => acknowledgedAt === undefined || refusals > 0,
    );
    return [...this.wrongResponses.keys(), ...failed.map((attempt) => JSON.stringify(attempt))];
  }

  /** Milliseconds since the run began. */
  get now(): number {
    return performance.now() - this.began;
  }

  /** Creates an account with perks, a campaign and gift cards. */
  async prepare(cards: number): Promise<void> {
    const setup = new AccountSetup(this.fleet.admin, ACCOUNT);
    this.key = (await setup.aKey()).key;
    await setup.putPerks(PERKS);
    await setup.putCollection(COLLECTION, PERKS);
    await setup.putCampaign(CAMPAIGN, PERKS);
    this.pool = await setup.aPool(cards);
    // Other operations need these from the start: URLs to follow, a token, a session.
    for (let tries = 0; tries < 100; tries += 1) {
      await this.attempt('read').catch(() => undefined);
      await this.attempt('token').catch(() => undefined);
      if (this.promised.outreachUrls.length === 0) await this.makeOutreachUrl().catch(() => undefined);
      if (this.promised.sessions.length === 0) await this.signIn().catch(() => undefined);
      const { clickUrls, outreachUrls, sessions } = this.promised;
      if ([clickUrls, outreachUrls, sessions].every(({ length }) => length > 0) && this.analyticsToken) break;
      await sleep(200);
    }
    this.wrongResponses.clear();
  }

  start(): void {
    this.isRunning = true;
    for (const operation of this.operations) {
      const every = 1_000 / (OPERATIONS[operation].perSecond * this.pace);
      this.timers.push(setInterval(() => this.begin(operation), every));
    }
  }

  /** Stops the workload. Resolves when all attempts have ended. */
  async stop(): Promise<void> {
    this.isRunning = false;
    for (const timer of this.timers.splice(0)) clearInterval(timer);
    await Promise.all(this.work);
  }

  /**
   * Waits until each operation has acknowledged a request sent after this call.
   * @returns those that have not, with the reason of the last refusal
   */
  async untilAcknowledged(withinMs: number): Promise<string[]> {
    const since = this.now;
    const silent = () =>
      this.operations.filter((operation) => (this.lastAcknowledgedSentAt.get(operation) ?? 0) < since);
    const deadline = Date.now() + withinMs;
    while (silent().length > 0 && Date.now() < deadline) await sleep(100);
    return silent().map(
      (operation) => `${operation} (${this.lastRefusal.get(operation) ?? 'never refused'})`,
    );
  }

  private begin(operation: Operation): void {
    const busy = this.busy.get(operation) ?? 0;
    if (busy >= MAX_CONCURRENT) return;
    this.busy.set(operation, busy + 1);
    const done = this.attempt(operation).finally(() => {
      this.busy.set(operation, this.busy.get(operation)! - 1);
      this.work.delete(done);
    });
    this.work.add(done);
  }

  private async attempt(operation: Operation): Promise<void> {
    const attempt: Attempt = {
      operation,
      id: `${this.run}-${this.attempts.length}`,
      phase: this.phase,
      begunAt: this.now,
      refusals: 0,
    };
    if (operation === 'reveal' || operation === 'cancel') {
      attempt.linkId = this.unusedLinkIds.shift();
      if (!attempt.linkId) return;
    }
    this.attempts.push(attempt);
    const deadline = this.now + GIVE_UP_AFTER_MS;
    for (;;) {
      const began = this.now;
      try {
        await this[operation](attempt);
        attempt.acknowledgedAt = this.now;
        this.lastAcknowledgedSentAt.set(operation, began);
        return;
      } catch (error) {
        if (error instanceof Refused) {
          attempt.refusals += 1;
          this.lastRefusal.set(operation, error.message);
        } else {
          const what = `${operation}: ${(error as Error).message}`;
          this.wrongResponses.set(what, (this.wrongResponses.get(what) ?? 0) + 1);
        }
      }
      // Retry operations that a client would retry, for a shorter time after `stop`.
      if (
        !OPERATIONS[operation].retries ||
        this.now > deadline ||
        (!this.isRunning && this.now > deadline - 30_000)
      )
        return;
      await sleep(RETRY_AFTER_MS);
    }
  }

  /** @throws Refused on 503 or no response; an Error on any other unexpected status */
  private async expect(status: number, url: string, options: Request): Promise<HttpResponse> {
    let response: HttpResponse;
    try {
      // Each request has a random client address, so that limits per address do not apply.
      const from = Array.from({ length: 3 }, () => 1 + Math.floor(this.random() * 254)).join('.');
      const headers = { 'x-forwarded-for': `10.${from}`, ...options.headers };
      response = await (this.fleet.send ?? sendRequest)(url, { ...options, headers });
    } catch (error) {
      throw new Refused((error as Error).message);
    }
    if (response.status === status) return response;
    if (response.status === 503) throw new Refused(`503: ${response.text.slice(0, 160)}`);
    throw new Error(`expected ${status}, got ${response.status}: ${response.text.slice(0, 160)}`);
  }

  /** The key of the account, as a header. */
  get client(): { 'x-api-key': string } {
    return { 'x-api-key': this.key };
  }

  private async read({ id }: Attempt): Promise<void> {
    const url = `${this.fleet.urls.perks}/perk-collections/${COLLECTION}?utm_content=${id}`;
    const { text } = await this.expect(200, url, { headers: this.client });
    const { perks } = JSON.parse(text) as { perks: { click_url: string }[] };
    if (this.promised.clickUrls.length < 1_000)
      this.promised.clickUrls.push(...perks.map((perk) => perk.click_url));
  }

  private async makeOutreachUrl(): Promise<void> {
    const url = `${this.fleet.urls.boost}/outreach/campaign/${CAMPAIGN}/reward-url?perkId=${pick(PERKS, this.random)}`;
    const { text } = await this.expect(200, url, { headers: this.client });
    this.promised.outreachUrls.push(JSON.parse(text) as string);
  }

  private async follow(link: string, id: string): Promise<void> {
    const url = new URL(link);
    url.searchParams.set('utm_content', id);
    url.searchParams.set('journeyId', id);
    const { headers } = await this.expect(302, url.href, { headers: BROWSER });
    if (!String(headers.location).startsWith(OFFER))
      throw new Error(`redirected to ${String(headers.location)}`);
  }

  private click({ id }: Attempt): Promise<void> {
    return this.follow(pick(this.promised.clickUrls, this.random), id);
  }

  private async outreach({ id }: Attempt): Promise<void> {
    if (this.promised.outreachUrls.length < 200 && this.random() < 0.1)
      await this.makeOutreachUrl().catch(() => undefined);
    await this.follow(pick(this.promised.outreachUrls, this.random), id);
  }

  private async pixel({ id }: Attempt): Promise<void> {
    const kind = this.random() < 0.5 ? 'teaser' : 'reward';
    const path = `/outreach/campaign/${CAMPAIGN}/tracking-pixel/${kind}?utm_content=${id}&journeyId=${id}`;
    await this.expect(200, this.fleet.urls.boost + path, { headers: BROWSER });
  }

  private async conversion({ id }: Attempt): Promise<void> {
    await this.expect(202, `${this.fleet.urls.boost}/track/${CAMPAIGN}?utm_content=${id}`, {
      method: 'POST',
      headers: this.client,
      body: { event: 'conversion', journeyId: id, externalId: id, value: 10, currency: 'EUR' },
    });
  }

  private async generate(attempt: Attempt): Promise<void> {
    const key = (attempt.idempotencyKey ??= randomUUID());
    const { text } = await this.expect(
      201,
      `${this.fleet.urls['gift-cards']}/pool/${this.pool}/reward-links?idempotencyKey=${key}`,
      {
        method: 'POST',
        headers: { ...this.client, 'x-created-by': attempt.id },
        body: {
          denomination: 25,
          currency: 'EUR',
          country: 'FR',
          expires_at: EXPIRES,
        },
      },
    );
    const link = JSON.parse(text) as { id: string; token: string };
    attempt.linkId = link.id;
    this.promised.tokens.set(link.id, link.token);
    this.unusedLinkIds.push(link.id);
  }

  private async reveal({ linkId }: Attempt): Promise<void> {
    const card = await this.cardOf(linkId!);
    const before = this.promised.cards.get(linkId!);
    if (before !== undefined && before !== card) throw new Error('a different card than before');
    this.promised.cards.set(linkId!, card);
  }

  /** Reveals a link, for the first time or again. @returns the code of its card */
  async cardOf(linkId: string): Promise<string> {
    const { text } = await this.expect(200, `${this.fleet.urls['allocation-page']}/api/reward-link/reveal`, {
      method: 'POST',
      headers: { ...BROWSER, authorization: `Bearer ${this.promised.tokens.get(linkId)}` },
    });
    const { card } = JSON.parse(text) as { card?: { code: string } };
    if (!card) throw new Error('revealed without a card');
    return card.code;
  }

  /** Returns the state of a link as the Allocation Page shows it. */
  async stateOf(linkId: string): Promise<string> {
    const { text } = await this.expect(200, `${this.fleet.urls['allocation-page']}/api/reward-link`, {
      headers: { ...BROWSER, authorization: `Bearer ${this.promised.tokens.get(linkId)}` },
    });
    return (JSON.parse(text) as { state: string }).state;
  }

  private async cancel({ linkId }: Attempt): Promise<void> {
    await this.expect(200, `${this.fleet.urls['gift-cards']}/reward-links/${linkId}/cancel`, {
      method: 'POST',
      headers: this.client,
    });
  }

  private session(): Promise<void> {
    const { sessions } = this.promised;
    // Signs in rarely, one at a time: each sign-in takes a lock on the key, so concurrent ones would wait for each
    // other.
    if (this.isSigningIn || this.random() > 0.1) return this.useSession(pick(sessions, this.random));
    return this.signIn();
  }

  private async signIn(): Promise<void> {
    this.isSigningIn = true;
    const url = this.fleet.urls.console;
    try {
      const { headers } = await this.expect(200, `${url}/api/session`, {
        method: 'POST',
        headers: { ...BROWSER, origin: url },
        body: { apiKey: this.key },
      });
      this.promised.sessions.push(headers['set-cookie']![0]!.split(';')[0]!);
    } finally {
      this.isSigningIn = false;
    }
  }

  async useSession(cookie: string): Promise<void> {
    const url = this.fleet.urls.console;
    await this.expect(200, `${url}/api/session`, { headers: { ...BROWSER, origin: url, cookie } });
  }

  private async token(): Promise<void> {
    const { text } = await this.expect(200, `${this.fleet.urls['token-issuer']}/cube/token`, {
      headers: this.client,
    });
    this.analyticsToken = (JSON.parse(text) as { token: string }).token;
  }

  private async query(): Promise<void> {
    const query = encodeURIComponent(JSON.stringify({ measures: ['perk_clicks.count'] }));
    const { text } = await this.expect(
      200,
      `${this.fleet.urls['analytics-query']}/cubejs-api/v1/load?query=${query}`,
      { headers: { authorization: this.analyticsToken } },
    );
    // Cube's "Continue wait" is 200 with an error, which this query host never sends.
    const { error } = JSON.parse(text) as { error?: string };
    if (error !== undefined) throw new Error(`got 200 with the error ${error}`);
  }
}

/** Fixed, because a retry must send the same body. */
const EXPIRES = Math.round(Date.now() / 1_000) + 30 * 86_400;
