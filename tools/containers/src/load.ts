import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpResponse, ComposeStack } from './compose-stack.js';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const COUNT_LIMIT_MS = 30_000;
/** Pause of a customer. Leaves processor time for replicas that start meanwhile. */
const PAUSE_MS = 100;

/** An account of the demo data. */
export interface Account {
  id: string;
  key: string;
  collection: string;
  campaign: string;
  pool: string;
  denomination: number;
  currency: string;
}

/** Number of acknowledged requests by type. */
export interface Done {
  views: number;
  clicks: number;
  conversions: number;
  links: number;
}

/**
 * Customers and clients that keep reading, clicking, converting and reserving cards through the proxy. Any unexpected
 * response is a failure.
 */
export class Load {
  readonly run = `load-${randomUUID().slice(0, 8)}`;
  readonly done: Done = { views: 0, clicks: 0, conversions: 0, links: 0 };
  readonly failures: string[] = [];
  /** Tokens of the links that were created. */
  readonly tokens: string[] = [];
  private going = true;
  private workers: Promise<void>[] = [];

  constructor(
    private readonly stack: ComposeStack,
    private readonly account: Account,
  ) {}

  start(customers = 4): this {
    this.workers = Array.from({ length: customers }, (_, index) => this.work(`${this.run}-${index}`));
    return this;
  }

  /** Resolves when the last request has ended. */
  async stop(): Promise<this> {
    this.going = false;
    await Promise.all(this.workers);
    return this;
  }

  private async work(journey: string): Promise<void> {
    const { account } = this;
    const marks = `utm_campaign=${this.run}&journeyId=${journey}`;
    const browser = { 'user-agent': BROWSER };
    for (let round = 0; this.going; round += 1) {
      const read = await this.expect(200, 'perks', `/perk-collections/${account.collection}?${marks}`);
      const perks = read ? (JSON.parse(read.body) as { perks: { click_url: string }[] }).perks : [];
      this.done.views += perks.length;
      for (const { click_url: link } of perks.slice(0, 5)) {
        const { pathname, search } = new URL(link);
        const path = `${pathname}${search ? `${search}&` : '?'}${marks}`;
        if (await this.expect(302, 'links', path, { headers: browser })) this.done.clicks += 1;
      }
      const body = JSON.stringify({
        event: 'conversion',
        journeyId: journey,
        externalId: `${journey}-${round}`,
      });
      if (await this.expect(202, 'boost', `/track/${account.campaign}?${marks}`, { method: 'POST', body }))
        this.done.conversions += 1;
      await this.reserve();
      await this.expect(200, 'rewards', '/', { headers: { ...browser, accept: 'text/html' } });
      const token = await this.expect(200, 'token', '/cube/token');
      const authorization = token ? (JSON.parse(token.body) as { token: string }).token : '';
      await this.expect(200, 'query', '/cubejs-api/v1/meta', { headers: { authorization } });
      await sleep(PAUSE_MS);
    }
  }

  private async reserve(): Promise<void> {
    const { pool, denomination, currency } = this.account;
    const body = JSON.stringify({
      denomination,
      currency,
      expires_at: Math.round(Date.now() / 1000) + 86_400,
    });
    const path = `/pool/${pool}/reward-links?idempotencyKey=${randomUUID()}`;
    const headers = { 'x-created-by': this.run };
    const response = await this.expect(201, 'gift', path, { method: 'POST', body, headers });
    if (!response) return;
    this.done.links += 1;
    this.tokens.push((JSON.parse(response.body) as { token: string }).token);
  }

  private async expect(
    status: number,
    host: string,
    path: string,
    options: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<HttpResponse | undefined> {
    const headers = {
      'x-api-key': this.account.key,
      ...(options.body ? { 'content-type': 'application/json' } : {}),
      ...options.headers,
    };
    const response = await this.stack
      .request(host, path, { ...options, headers })
      .catch((error: Error) => error);
    // Not by `instanceof Error`: errors of Node's own modules are of another realm than a test's.
    const hasResponse = 'status' in response;
    if (hasResponse && response.status === status) return response;
    const how = hasResponse ? `${response.status} ${response.body.slice(0, 200)}` : response.message;
    this.failures.push(
      `${new Date().toISOString()} ${options.method ?? 'GET'} ${host}${path.split('?')[0]}: ${how}`,
    );
    return undefined;
  }
}

/** Returns the analytics counts of a workload. Polls until they are as `expected`, or until a timeout. */
export async function counted(
  stack: ComposeStack,
  account: Account,
  run: string,
  expected: Done,
  limitMs = COUNT_LIMIT_MS,
): Promise<Done> {
  const headers = { 'x-api-key': account.key };
  const count = async (token: string, cube: string, member: string): Promise<number> => {
    const filters = [{ member: `${cube}.${member}`, operator: 'equals', values: [run] }];
    const query = encodeURIComponent(JSON.stringify({ measures: [`${cube}.count`], filters }));
    const { body } = await stack.request('query', `/cubejs-api/v1/load?query=${query}`, {
      headers: { authorization: token },
    });
    const { data } = JSON.parse(body) as { data: Record<string, string>[] };
    return Number(data[0]?.[`${cube}.count`] ?? 0);
  };
  const deadline = Date.now() + limitMs;
  for (;;) {
    const { token } = JSON.parse((await stack.request('token', '/cube/token', { headers })).body) as {
      token: string;
    };
    const found: Done = {
      views: await count(token, 'perk_views', 'utm_campaign'),
      clicks: await count(token, 'perk_clicks', 'utm_campaign'),
      conversions: await count(token, 'conversions', 'utm_campaign'),
      links: await count(token, 'reward_links', 'created_by'),
    };
    const all = Object.keys(expected) as (keyof Done)[];
    if (all.every((what) => found[what] === expected[what]) || Date.now() > deadline) return found;
    await sleep(300);
  }
}
