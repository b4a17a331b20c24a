import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { newWebhookSecret, webhookHeaders } from '@perkway/signing';

import { readStack, runDemo } from '../src/demo.js';
import { DemoError, type Host, type Stack } from '../src/journey.js';
import { shownUrl } from '../src/show.js';

const SECRETS = {
  key: 'user-key-of-the-first-account',
  link: 'signed-click-token-0001',
  reward: 'reward-link-token-0001',
  analytics: 'eyJ.analytics.token',
  card: 'CARD-CODE-0001',
  pin: '4711',
  coupon: 'COUPON-CODE-0001',
  rewardUrl: 'signed-reward-url-token',
  webhook: newWebhookSecret(),
};
const ALL_HOSTS: Host[] = ['perks', 'links', 'boost', 'gift', 'rewards', 'token', 'query', 'events'];

/** Replaces every host with responses in the shapes of the HTTP contract, and counts what it records. */
class Fleet {
  readonly seen: { method: string; url: URL; headers: Record<string, unknown>; body: string }[] = [];
  readonly counted: Record<string, number> = {};
  readonly pixelSeconds: number[] = [];
  /** Lets a test replace a response. */
  spoil?: (path: string) => { status: number; body: unknown } | undefined;
  private server: Server;
  base: string;
  /** The webhook, while there is one. */
  private webhook?: { id: string; url: string };
  delivered?: Promise<Response>;

  private deliver(url: string, subject: string): Promise<Response> {
    const event = { id: 'e1', type: 'reward_link.revealed', occurred_at: '', subject, data: {} };
    const body = JSON.stringify(event);
    return fetch(url, {
      method: 'POST',
      headers: webhookHeaders([SECRETS.webhook], event.id, Date.now(), body),
      body,
    });
  }

  private count(what: string, by = 1): void {
    this.counted[what] = (this.counted[what] ?? 0) + by;
  }

  private reply(
    method: string,
    url: URL,
    headers: Record<string, unknown>,
    body: string,
  ): [number, object, unknown] {
    const path = url.pathname;
    const spoiled = this.spoil?.(path);
    if (spoiled) return [spoiled.status, {}, spoiled.body];
    const is = (pattern: RegExp): boolean => pattern.test(path);
    const perks = [
      { id: 'p1', title: 'Un', callout: '-1 %', click_url: `${this.base}/c/${SECRETS.link}` },
      { id: 'p2', title: 'Deux', callout: '-2 %', is_coupon_perk: true },
    ];
    const tracked = headers['x-disable-view-tracking'] !== 'true';
    if (is(/^\/perk-collections$/)) return [200, {}, ['first', 'second']];
    if (is(/\/coupon$/))
      return [201, {}, { code: SECRETS.coupon, perk_id: 'p2', customer_id: 'c', allocated_at: 'now' }];
    if (is(/^\/perk-collections\/first$/)) {
      if (tracked) this.count('perk_views.count', perks.length);
      return [200, { 'Content-Language': 'fr' }, { id: 'first', groups: [{}], perks }];
    }
    if (is(/^\/perk-collections\/first\/perk\/p1$/)) {
      this.count('perk_views.count');
      return [200, {}, perks[0]];
    }
    if (is(/^\/c\//)) {
      this.count('perk_clicks.count');
      return [302, { Location: 'https://partner.example/offer' }, ''];
    }
    if (is(/^\/teasers\//)) return [200, {}, { incentives: [{ perkId: 'p1', title: 'Un' }] }];
    if (is(/reward-url$/)) return [200, {}, `${this.base}/outreach/click?token=${SECRETS.rewardUrl}`];
    if (is(/tracking-pixel/)) {
      const second = Math.floor(Date.now() / 1000);
      if (!this.pixelSeconds.includes(second)) this.count(`${path.split('/').at(-1)}_views.count`);
      this.pixelSeconds.push(second);
      return [200, {}, ''];
    }
    if (is(/^\/outreach\/click$/)) {
      this.count('incentive_clicks.count');
      return [302, { Location: 'https://partner.example/offer' }, ''];
    }
    if (is(/^\/track\//)) {
      this.counted['conversions.count'] = 1;
      this.counted['conversions.value'] = (JSON.parse(body) as { value: number }).value;
      return [202, {}, {}];
    }
    if (is(/^\/pools$/)) {
      const entry = { denomination: 25, currency: 'EUR', country: 'FR' };
      return [
        200,
        {},
        [
          {
            id: 'a-pool',
            inventories: [
              { ...entry, available: 0 },
              { ...entry, available: 3 },
            ],
          },
        ],
      ];
    }
    if (is(/^\/webhooks$/)) return [200, {}, { data: this.webhook ? [this.webhook] : [], next_cursor: null }];
    if (is(/^\/webhooks\/demo$/)) {
      const isNew = !this.webhook;
      this.webhook =
        method === 'PUT' ? { id: 'demo', url: (JSON.parse(body) as { url: string }).url } : undefined;
      if (method === 'DELETE') return [204, {}, ''];
      return isNew ? [201, {}, { ...this.webhook, secret: SECRETS.webhook }] : [200, {}, this.webhook];
    }
    if (is(/deliveries$/))
      return [
        200,
        {},
        { data: [{ event_id: 'e1', type: 'reward_link.revealed', state: 'delivered', attempts: 1 }] },
      ];
    if (is(/reward-links$/)) {
      this.counted['reward_links.count generated'] = 1;
      return [201, {}, { id: 'l1', reward_link: `${this.base}/#${SECRETS.reward}`, token: SECRETS.reward }];
    }
    if (is(/^\/api\/reward-link$/))
      return [200, {}, { state: 'RESERVED', denomination: 25, currency: 'EUR' }];
    if (is(/reveal$/)) {
      this.count('reward_links.count revealed');
      this.delivered = this.webhook && this.deliver(this.webhook.url, 'reward_link/l1');
      return [200, {}, { state: 'REVEALED', card: { code: SECRETS.card, pin: SECRETS.pin } }];
    }
    if (is(/^\/cube\/token$/)) {
      const token = headers['x-api-key'] === SECRETS.key ? SECRETS.analytics : 'token-of-the-other';
      const now = Math.floor(Date.now() / 1000);
      const serverTime = { timestamp: new Date().toISOString(), epoch_timestamp: now };
      return [200, {}, { token, expiration: (now + 300) * 1000, serverTime }];
    }
    if (is(/\/load$/)) {
      const query = JSON.parse(url.searchParams.get('query')!) as {
        measures: string[];
        filters: { member: string; values: string[] }[];
      };
      const state = query.filters.find((filter) => filter.member === 'reward_links.state')?.values[0];
      const own = headers.authorization === SECRETS.analytics;
      const measure = query.measures[0]!;
      const value = own ? (this.counted[state ? `${measure} ${state}` : measure] ?? 0) : 0;
      return [200, {}, { data: [{ [measure]: String(value) }] }];
    }
    return [404, {}, { detail: `nothing at ${method} ${path}` }];
  }

  async start(): Promise<void> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const url = new URL(request.url!, this.base);
        const body = Buffer.concat(chunks).toString();
        this.seen.push({ method: request.method!, url, headers: request.headers, body });
        const [status, headers, reply] = this.reply(request.method!, url, request.headers, body);
        response
          .writeHead(status, { 'Content-Type': 'application/json', ...headers })
          .end(JSON.stringify(reply));
      });
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.base = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  stack(hosts: Host[] = ALL_HOSTS): Stack {
    const account = {
      id: 'a-bank',
      userKey: SECRETS.key,
      collections: ['first'],
      campaigns: ['spring'],
      pools: ['x'],
    };
    return {
      hosts: Object.fromEntries(hosts.map((host) => [host, this.base])),
      accounts: [account, { ...account, id: 'a-telecom', userKey: 'user-key-of-the-second' }],
    };
  }
}

describe('the demo', () => {
  let fleet: Fleet;
  let lines: string[];
  const run = (stack: Stack): Promise<void> => runDemo(stack, (line) => lines.push(line), 1_000);
  const failure = async (stack: Stack): Promise<string> => {
    const error: unknown = await run(stack).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DemoError);
    return (error as Error).message;
  };

  beforeEach(async () => {
    lines = [];
    fleet = new Fleet();
    await fleet.start();
  });
  afterEach(() => fleet.stop());

  it('walks through the whole journey, ends with equal counts and prints no secret', async () => {
    await run(fleet.stack());
    for (const secret of Object.values(SECRETS)) expect(lines.join('\n')).not.toContain(secret);
    expect(lines.join('\n')).toContain('X-API-Key: user…');
    expect(lines.join('\n')).toContain('/c/sign…');
    const verdicts = lines.filter((line) => / equal$/.test(line)).map((line) => line.trim().split(/ {2,}/));
    expect(verdicts).toEqual([
      ['perk views', '3', '3', 'equal'],
      ['perk clicks', '1', '1', 'equal'],
      ['teaser views', '1', '1', 'equal'],
      ['reward views', '1', '1', 'equal'],
      ['clicks in campaigns', '1', '1', 'equal'],
      ['conversions', '1', '1', 'equal'],
      ['value of conversions', '49.9', '49.9', 'equal'],
      ['reward links generated', '1', '1', 'equal'],
      ['reward links revealed', '1', '1', 'equal'],
      ['perk views that a-telecom sees', '0', '0', 'equal'],
    ]);
    expect(lines.at(-1)).toMatch(/All counts match/);
  });

  it('creates a webhook, verifies its delivery about the revealed card, and deletes it', async () => {
    await run(fleet.stack());
    expect((await fleet.delivered)!.status).toBe(204);
    expect(lines).toContain('      reward_link.revealed, reward_link/l1, signed, under the id e1');
    expect(lines).toContain('      the delivery is delivered, attempts: 1');
    const calls = fleet.seen.filter(({ url }) => url.pathname === '/webhooks/demo');
    expect(calls.map(({ method }) => method)).toEqual(['PUT', 'DELETE']);
  });

  it('replaces a webhook that a failed run left, because its secret is shown only once', async () => {
    fleet.spoil = (path) => (path.endsWith('/reveal') ? { status: 500, body: {} } : undefined);
    await failure(fleet.stack());
    fleet.spoil = (path) => (path.endsWith('/cube/token') ? { status: 500, body: {} } : undefined);
    await failure(fleet.stack());
    const calls = fleet.seen.filter(({ url }) => url.pathname === '/webhooks/demo');
    expect(calls.map(({ method }) => method)).toEqual(['PUT', 'DELETE', 'PUT', 'DELETE']);
  });

  it('marks everything that is counted with its own run, and clicks with a browser', async () => {
    await run(fleet.stack());
    const marker = /run (\S+)$/.exec(lines[0]!)![1]!;
    const tracked = fleet.seen.filter(({ url }) => /^\/(c|outreach|track)\/|\/perk\/p1$/.test(url.pathname));
    expect(tracked.length).toBeGreaterThanOrEqual(8);
    for (const { url } of tracked) expect(url.searchParams.get('utm_campaign')).toBe(marker);
    for (const { url } of tracked) expect(url.searchParams.get('cmeta_demo_run')).toBe(marker);
    const clicks = tracked.filter(({ url }) => /^\/c\/|\/outreach\/click|pixel/.test(url.pathname));
    expect(clicks).toHaveLength(4);
    for (const { headers } of clicks) expect(headers['user-agent']).toMatch(/^Mozilla/);
    const loads = fleet.seen.filter(({ url }) => url.pathname.endsWith('/load'));
    for (const { url } of loads) expect(url.searchParams.get('query')).toContain(marker);
  });

  it('skips hosts that the stack does not have, and compares the rest', async () => {
    await run(fleet.stack(['perks', 'links', 'token', 'query']));
    expect(lines.filter((line) => /skipped: this stack has no boost$/.test(line))).toHaveLength(7);
    expect(lines.filter((line) => /skipped: this stack has no gift and no rewards$/.test(line))).toHaveLength(
      2,
    );
    expect(lines.filter((line) => / equal$/.test(line))).toHaveLength(3);
  });

  it('names the counts that differ', async () => {
    fleet.spoil = (path) => (path.startsWith('/c/') ? { status: 302, body: '' } : undefined);
    expect(await failure(fleet.stack(['perks', 'links', 'token', 'query']))).toBe(
      'After 1 s the counts still differ from what was done: perk clicks 0 instead of 1.',
    );
    expect(lines.find((line) => line.includes('DIFFERENT'))).toContain('perk clicks');
  });

  it('stops at the first error response and reports it', async () => {
    fleet.spoil = (path) =>
      path.startsWith('/teasers')
        ? { status: 503, body: { code: 'DEPENDENCY_UNAVAILABLE', detail: 'not now' } }
        : undefined;
    expect(await failure(fleet.stack())).toMatch(
      /^GET http:\/\/127\.0\.0\.1:\d+\/teasers\/spring\?.+ returned 503: not now$/,
    );
  });

  it('reports a response of an unexpected shape', async () => {
    fleet.spoil = (path) => (path === '/perk-collections/first' ? { status: 200, body: {} } : undefined);
    expect(await failure(fleet.stack())).toMatch(/^“Its content sync .+” got an unexpected response: /);
  });

  it('names the host that does not respond', async () => {
    expect(await failure({ ...fleet.stack(), hosts: { perks: 'http://127.0.0.1:1' } })).toMatch(
      /^http:\/\/127\.0\.0\.1:1 does not respond \(.+\)\. Is the stack still running/,
    );
  });

  it('reads the stack file, or says why it cannot and how to start a stack', () => {
    const folder = mkdtempSync(join(tmpdir(), 'perkway-demo-'));
    const file = join(folder, 'stack.json');
    try {
      expect(() => readStack(file)).toThrow(`${file} does not exist. Start one with npm start`);
      writeFileSync(file, '{');
      expect(() => readStack(file)).toThrow('not the JSON');
      writeFileSync(file, JSON.stringify(fleet.stack()));
      expect(readStack(file).accounts).toHaveLength(2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('shownUrl', () => {
  it.each([
    ['http://h/c/abcdefgh?utm_source=x', 'http://h/c/abcd…?utm_source=x'],
    ['http://h/outreach/click?token=abcdefgh&journeyId=j', 'http://h/outreach/click?token=abcd…&journeyId=j'],
    ['http://h/perk-collections?api_key=abcdefgh', 'http://h/perk-collections?api_key=abcd…'],
    ['http://h/#abcdefgh', 'http://h/#abcd…'],
    ['http://h/pools?utm_campaign=demo-1&cmeta_demo_run=demo-1', 'http://h/pools'],
    ['http://h/pools', 'http://h/pools'],
  ])('shows %s as %s', (url, shown) => {
    expect(shownUrl(url)).toBe(shown);
  });
});
