import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrialFleet } from './trial-fleet.js';
import { pick } from './random.js';

/** Headers of a person, who is counted. */
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' };
const ANSWER_WITHIN_MS = 5_000;
/** Of one surface; what comes beyond waits its turn and is not attempted. */
const MOST_AT_ONCE = 40;
const RETRY_AFTER_MS = 250;
const GIVE_UP_AFTER_MS = 60_000;

export const SURFACES = {
  read: { perSecond: 20, retries: false },
  click: { perSecond: 20, retries: false },
  pixel: { perSecond: 10, retries: false },
  outreach: { perSecond: 10, retries: false },
  // The contract allows to send these again: with the same externalId, the same idempotencyKey, the same link.
  conversion: { perSecond: 8, retries: true },
  generate: { perSecond: 10, retries: true },
  reveal: { perSecond: 5, retries: true },
  cancel: { perSecond: 2, retries: true },
  session: { perSecond: 3, retries: false },
  token: { perSecond: 1, retries: false },
  query: { perSecond: 3, retries: false },
} as const satisfies Record<string, { perSecond: number; retries: boolean }>;
export type Surface = keyof typeof SURFACES;
export const SURFACE_NAMES = Object.keys(SURFACES) as Surface[];

/** One thing that somebody wanted; with retries it may be several requests. */
export interface Attempt {
  surface: Surface;
  /** Planted in the request, and found again in what is stored. */
  id: string;
  /** Which part of the run it began in. */
  phase: number;
  /** Milliseconds of the run. */
  begunAt: number;
  /** When the service said that it is done, in milliseconds of the run; absent: refused, or no answer. */
  answeredAt?: number;
  /** Requests of it that were answered 503, or not at all. */
  refusals: number;
  /** Of the reward link, where there is one. */
  linkId?: string;
  /** Sent again with the request. */
  idempotencyKey?: string;
}

/** What was promised and has to hold at the end. */
export interface Promised {
  clickUrls: string[];
  outreachUrls: string[];
  /** By id of the link. */
  tokens: Map<string, string>;
  cards: Map<string, string>;
  sessions: string[];
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}
interface Request {
  method?: string;
  headers?: Record<string, string>;
  body?: object;
}

/** A connection of its own each: whoever answers the next one is another replica. */
export const ask = (url: string, { method = 'GET', headers = {}, body }: Request = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const sent = request(url, {
      method,
      agent: false,
      headers: { ...(text ? { 'content-type': 'application/json' } : {}), ...headers },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.end(text);
  });

/** Refused for now, as documented, or not answered at all. */
class Refused extends Error {}

export const ACCOUNT = 'trial';
const COLLECTION = 'main';
const CAMPAIGN = 'campaign';
const PERKS = ['one', 'two', 'three'];
const OFFER = 'https://partner.example/offer';

/** Customers, recipients and a client's servers that go on asking whatever happens, and a ledger of what they were told. */
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
  /** Answers that nobody should get, whatever fault there is, and how often. */
  readonly wrong = new Map<string, number>();
  phase = 0;
  private readonly began = performance.now();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly busy = new Map<Surface, number>();
  private readonly work = new Set<Promise<void>>();
  private readonly fresh: string[] = [];
  private readonly lastAnswer = new Map<Surface, number>();
  private isGoing = false;
  private isSigningIn = false;
  private key = '';
  private pool = randomUUID();
  private analyticsToken = '';

  constructor(
    private readonly fleet: TrialFleet,
    private readonly random: () => number,
    /** Of the rates of `SURFACES`. */
    private readonly pace = 1,
  ) {}

  /** Milliseconds since the run began. */
  get now(): number {
    return performance.now() - this.began;
  }

  /** An account with a catalogue, a campaign and cards. */
  async prepare(cards: number): Promise<void> {
    const { fleet } = this;
    await fleet.admin('token-issuer', 'PUT', `/admin/accounts/${ACCOUNT}`, { name: 'Trial' });
    const made = await fleet.admin<{ key: string }>(
      'token-issuer',
      'POST',
      `/admin/accounts/${ACCOUNT}/keys`,
      {
        role: 'USER',
      },
    );
    this.key = made.key;
    await fleet.admin('perks', 'PUT', '/admin/categories/1', { slug: 'travel', name: 'Travel' });
    for (const perk of PERKS)
      await fleet.admin('perks', 'PUT', `/admin/perks/${perk}`, {
        title: `Perk ${perk}`,
        description: 'What it is.',
        callout: '20 % off',
        redemption_note: '',
        details: '',
        offer_url: `${OFFER}/${perk}`,
        offer_slug: perk,
        partner: { id: 'partner', name: 'Partner' },
        categories: [1],
      });
    await fleet.admin('perks', 'PUT', `/admin/perk-collections/${COLLECTION}`, {
      owner: ACCOUNT,
      groups: [{ name: 'All', rank: 0, perks: PERKS.map((id, rank) => ({ id, rank })) }],
    });
    await fleet.admin('boost', 'PUT', `/admin/campaigns/${CAMPAIGN}`, {
      owner: ACCOUNT,
      name: 'Trial',
      incentives: PERKS,
    });
    await fleet.admin('gift-cards', 'PUT', `/admin/pools/${this.pool}`, { owner: ACCOUNT });
    const rows = Array.from({ length: cards }, (_, index) => `TRIAL-${this.run}-${index},1234,25,EUR,FR`);
    await fleet.admin(
      'gift-cards',
      'POST',
      `/admin/pools/${this.pool}/cards`,
      `code,pin,denomination,currency,country\n${rows.join('\n')}\n`,
      'text/csv',
    );
    // What the others need at once: links to click, a token to ask with, a session.
    for (let tries = 0; tries < 100; tries += 1) {
      await this.attempt('read').catch(() => undefined);
      await this.attempt('token').catch(() => undefined);
      if (this.promised.outreachUrls.length === 0) await this.makeOutreachUrl().catch(() => undefined);
      if (this.promised.sessions.length === 0) await this.signIn().catch(() => undefined);
      const { clickUrls, outreachUrls, sessions } = this.promised;
      if ([clickUrls, outreachUrls, sessions].every(({ length }) => length > 0) && this.analyticsToken) break;
      await sleep(200);
    }
    this.wrong.clear();
  }

  start(): void {
    this.isGoing = true;
    for (const surface of SURFACE_NAMES) {
      const every = 1_000 / (SURFACES[surface].perSecond * this.pace);
      this.timers.push(setInterval(() => this.begin(surface), every));
    }
  }

  /** Resolves when whatever was begun has been answered, or given up. */
  async stop(): Promise<void> {
    this.isGoing = false;
    for (const timer of this.timers.splice(0)) clearInterval(timer);
    await Promise.all(this.work);
  }

  /** Until each surface has answered something that was asked since now. @returns those that have not */
  async untilAnswered(withinMs: number): Promise<Surface[]> {
    const since = this.now;
    const silent = () => SURFACE_NAMES.filter((surface) => (this.lastAnswer.get(surface) ?? 0) < since);
    const deadline = Date.now() + withinMs;
    while (silent().length > 0 && Date.now() < deadline) await sleep(100);
    return silent();
  }

  private begin(surface: Surface): void {
    const busy = this.busy.get(surface) ?? 0;
    if (busy >= MOST_AT_ONCE) return;
    this.busy.set(surface, busy + 1);
    const done = this.attempt(surface).finally(() => {
      this.busy.set(surface, this.busy.get(surface)! - 1);
      this.work.delete(done);
    });
    this.work.add(done);
  }

  private async attempt(surface: Surface): Promise<void> {
    const attempt: Attempt = {
      surface,
      id: `${this.run}-${this.attempts.length}`,
      phase: this.phase,
      begunAt: this.now,
      refusals: 0,
    };
    if (surface === 'reveal' || surface === 'cancel') {
      attempt.linkId = this.fresh.shift();
      if (!attempt.linkId) return;
    }
    this.attempts.push(attempt);
    const deadline = this.now + GIVE_UP_AFTER_MS;
    for (;;) {
      const began = this.now;
      try {
        await this[surface](attempt);
        attempt.answeredAt = this.now;
        this.lastAnswer.set(surface, began);
        return;
      } catch (error) {
        if (error instanceof Refused) attempt.refusals += 1;
        else {
          const what = `${surface}: ${(error as Error).message}`;
          this.wrong.set(what, (this.wrong.get(what) ?? 0) + 1);
        }
      }
      // Those who were promised something go on asking for it; what nobody waits for any more is left.
      if (
        !SURFACES[surface].retries ||
        this.now > deadline ||
        (!this.isGoing && this.now > deadline - 30_000)
      )
        return;
      await sleep(RETRY_AFTER_MS);
    }
  }

  /** @throws Refused for no answer, 503 and 502; an error that says what else came instead of `status` */
  private async expect(status: number, url: string, options: Request): Promise<Answer> {
    let answer: Answer;
    try {
      // Everybody comes from an address of their own: what one address may do is not what is tried here.
      const from = Array.from({ length: 3 }, () => 1 + Math.floor(this.random() * 254)).join('.');
      const headers = { 'x-forwarded-for': `10.${from}`, ...options.headers };
      answer = await ask(url, { ...options, headers });
    } catch (error) {
      throw new Refused((error as Error).message);
    }
    if (answer.status === status) return answer;
    if (answer.status === 503) throw new Refused('503');
    throw new Error(`${answer.status} instead of ${status}: ${answer.text.slice(0, 160)}`);
  }

  private get client() {
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
      throw new Error(`a redirect to ${String(headers.location)}`);
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
    this.fresh.push(link.id);
  }

  private async reveal({ linkId }: Attempt): Promise<void> {
    const card = await this.cardOf(linkId!);
    const before = this.promised.cards.get(linkId!);
    if (before !== undefined && before !== card) throw new Error('another card than before');
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

  /** What the page of a recipient says of a link. */
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
    // A person signs in once and stays; it takes a lock of the key, so that all at once would wait for each other.
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
    // Slow queries are answered so, and asked again.
    if ((JSON.parse(text) as { error?: string }).error) throw new Refused('Continue wait');
  }
}

/** Far away: what is sent again has to be the same. */
const EXPIRES = Math.round(Date.now() / 1_000) + 30 * 86_400;
