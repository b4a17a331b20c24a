import {
  AppProcess,
  BundledApp,
  http,
  launchChromium,
  saveScreenshot,
  testEnvironment,
  untilTrue,
  waitFor,
} from '@perkway/testing';
import { freePort } from '@perkway/local-servers';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { ADMIN_KEY, Fleet, OpenIdProvider } from '../fleet';

/** A user agent that does not count as a bot. */
export const HUMAN =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36';

export interface Owner {
  account: string;
  key: string;
  keyId: string;
  collection: string;
  campaign: string;
  pool: string;
  perks: string[];
  /** Part of the names of everything it owns. */
  mark: string;
}

/** The whole fleet as deployed, two accounts with data, and a browser. */
export class ConsoleStage {
  readonly fleet = new Fleet();
  browser: Browser;
  /** Complaints of the browsers: script errors and violations of the content security policy. */
  readonly complaints: string[] = [];
  mine: Owner;
  theirs: Owner;
  private pages: AppProcess;
  private provider: OpenIdProvider;
  private receiver: Server;

  get url(): string {
    return this.fleet.urls.console!;
  }

  async start(): Promise<this> {
    const provider = await OpenIdProvider.reserve();
    await this.fleet.start(
      ['token-issuer', 'perks', 'boost', 'gift-cards', 'analytics-query', 'events', 'console'],
      provider.variables,
    );
    this.provider = await provider.start(this.url);
    const bundle = await BundledApp.build('allocation-page');
    const port = await freePort();
    this.pages = await AppProcess.spawn(
      bundle.path('main'),
      testEnvironment('allocation-page', { nats: this.fleet.nats, urls: this.fleet.urls }),
      port,
    );
    this.receiver = await startReceiver();
    [this.browser] = await Promise.all([launchChromium(), this.pages.ready()]);
    this.mine = await this.anOwner('Harbour', 40);
    this.theirs = await this.anOwner('Foreign', 5);
    await this.untilCounted(this.mine, 'campaign_funnel.journeys', 6);
    await this.untilCounted(this.theirs, 'campaign_funnel.journeys', 6);
    return this;
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    await this.pages?.kill('SIGTERM');
    await this.provider?.stop();
    this.receiver?.close();
    await this.fleet.close();
  }

  /** Creates an account with perks, a collection, a campaign with traffic, and a pool with cards. */
  private async anOwner(mark: string, cards: number): Promise<Owner> {
    const { account, key, keyId } = await this.fleet.anAccount();
    canaries.add(key);
    const perks = [1, 2, 3].map((nth) => `${mark}-perk-${nth}`);
    const [catalogue, boost, gifts] = [
      this.fleet.admin('perks'),
      this.fleet.admin('boost'),
      this.fleet.admin('gift-cards'),
    ];
    await catalogue.put('/admin/categories/7').send({ slug: 'outdoors', name: 'Outdoors' }).expect(200);
    for (const [index, id] of perks.entries())
      await catalogue
        .put(`/admin/perks/${id}`)
        .send(perkBody(`${mark} offer ${index + 1}`))
        .expect(200);
    const collection = `${mark}-collection`;
    await catalogue
      .put(`/admin/perk-collections/${collection}`)
      .send({
        owner: account,
        groups: [
          { name: `${mark} picks`, rank: 1, perks: perks.map((id, index) => ({ id, rank: index + 1 })) },
        ],
      })
      .expect(200);
    const campaign = `${mark}-campaign`;
    await boost
      .put(`/admin/campaigns/${campaign}`)
      .send({ owner: account, name: `${mark} spring`, incentives: perks })
      .expect(200);
    const pool = randomUUID();
    await gifts.put(`/admin/pools/${pool}`).send({ owner: account, product: { name: `${mark} voucher` } });
    await gifts
      .post(`/admin/pools/${pool}/cards`)
      .set('content-type', 'text/csv')
      .send(cardRows(cards, mark))
      .expect(200);
    await gifts
      .put(`/admin/limits/${mark.toLowerCase()}-month`)
      .send({ owner: account, links: 1_000, period: 'month' })
      .expect(200);
    const owner = { account, key, keyId, collection, campaign, pool, perks, mark };
    for (const [id, path] of Object.entries({ orders: '/accept', crm: '/fail', former: '/gone' } as const))
      await this.aWebhook(owner, id, path);
    await this.visit(owner);
    return owner;
  }

  /** A webhook of the receiver, which responds as the path says. */
  async aWebhook({ key, mark }: Owner, id: string, path: keyof typeof RESPONSES): Promise<void> {
    const body = { url: this.receiverUrl(path), description: `${mark} ${id}` };
    const put = http({ url: this.fleet.urls.events! }, { key }).put(`/webhooks/${id}`);
    canaries.add((await put.send(body).expect(201)).body.secret);
  }

  receiverUrl(path: keyof typeof RESPONSES): string {
    return `http://127.0.0.1:${(this.receiver.address() as AddressInfo).port}${path}`;
  }

  /** Six journeys: all see a teaser, three click (a bot clicks on one of them too), one converts. */
  private async visit(owner: Owner): Promise<void> {
    const { key, campaign, perks } = owner;
    const boost = http({ url: this.fleet.urls.boost! }, { key });
    const track = (body: object, query = '') => this.track(owner, body, query);
    for (let nth = 0; nth < 6; nth += 1)
      await track({ event: 'teaser_view', journeyId: `journey-${nth}` }, nth % 2 ? '?utm_source=mail' : '');
    for (const [nth, perk] of [perks[0]!, perks[0]!, perks[1]!].entries()) {
      const { body } = await boost
        .get(`/outreach/campaign/${campaign}/reward-url`)
        .query({ perkId: perk, journeyId: `journey-${nth}` })
        .expect(200);
      const link = new URL(String(body));
      const path = `${link.pathname}${link.search}&journeyId=journey-${nth}`;
      await http({ url: this.fleet.urls.boost! }, { 'user-agent': HUMAN }).get(path).expect(302);
      if (nth === 0)
        await http({ url: this.fleet.urls.boost! }, { 'user-agent': 'Googlebot/2.1' }).get(path).expect(302);
    }
    await track({
      event: 'conversion',
      journeyId: 'journey-0',
      perkId: perks[0],
      value: 20,
      currency: 'EUR',
    });
  }

  async track({ key, campaign }: Owner, body: object, query = ''): Promise<void> {
    await http({ url: this.fleet.urls.boost! }, { key })
      .post(`/track/${campaign}${query}`)
      .send(body)
      .expect(202);
  }

  /** Asks the query host directly, without the console in between. */
  async request({ key }: Owner, query: object): Promise<Record<string, unknown>[]> {
    const issuer = http({ url: this.fleet.urls['token-issuer']! }, { key });
    const { body } = await issuer.get('/cube/token').expect(200);
    const host = http({ url: this.fleet.urls['analytics-query']! }, { authorization: body.token });
    return (await host.post('/cubejs-api/v1/load').send({ query }).expect(200)).body.data;
  }

  async untilCounted(owner: Owner, measure: string, wanted: number, more: object = {}): Promise<void> {
    await waitFor(
      async () =>
        Number((await this.request(owner, { measures: [measure], ...more }))[0]?.[measure]) === wanted,
      `${wanted} of ${measure}`,
      30_000,
    );
  }

  /** Opens the gift card as its recipient would. */
  async reveal(link: string): Promise<void> {
    await http({ url: this.pages.url }, { authorization: `Bearer ${link.split('#')[1]}` })
      .post('/api/reward-link/reveal')
      .expect(200);
  }

  async window(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
    context.setDefaultTimeout(45_000);
    context.on('weberror', (error) => this.complaints.push(String(error.error())));
    context.on('console', (message) => {
      if (/content security policy|trusted ?type|react/i.test(message.text()))
        this.complaints.push(message.text());
    });
    return context;
  }

  /** Signs in with the form and waits for the first screen. */
  async signIn(context: BrowserContext, key = this.mine.key, path = '/'): Promise<Page> {
    const page = await context.newPage();
    await page.goto(this.url + path);
    await page.getByLabel('API key').fill(key);
    const main = page.getByRole('navigation', { name: 'Main' });
    const error = page.locator('[role="alert"]:not(:empty)');
    // On an overloaded machine, the first attempts may get 503.
    for (let attempt = 1; attempt <= 5 && (await main.count()) === 0; attempt += 1) {
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await main.or(error).first().waitFor({ state: 'attached' });
    }
    await main.waitFor({ state: 'attached' });
    await untilShown(page);
    return page;
  }

  async goto(page: Page, path: string): Promise<void> {
    await page.goto(this.url + path);
    await untilShown(page);
  }
}

export { ADMIN_KEY };

export const perkBody = (title: string) => ({
  title,
  description: `${title} in words`,
  callout: `${title} now`,
  redemption_note: 'By itself',
  details: 'While stocks last',
  offer_url: 'https://fernway.example/offer',
  offer_slug: title.toLowerCase().replaceAll(' ', '-'),
  metadata: `keyword-of-${title.replaceAll(' ', '-')}`,
  partner: { id: 'fernway', name: `${title} partner` },
  categories: [7],
});

/** Secrets that no screen may show: keys, codes of cards, and secrets of webhooks. */
const canaries = new Set([ADMIN_KEY]);
export const neverShow = (secret: string) => canaries.add(secret);

const RESPONSES = { '/accept': 204, '/fail': 503, '/gone': 410 } as const;

/** A client's server that webhooks lead to. */
async function startReceiver(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(RESPONSES[request.url as keyof typeof RESPONSES]).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

export const cardRows = (count: number, mark: string) => {
  const codes = Array.from({ length: count }, () => `${mark}-${randomUUID()}`);
  for (const code of codes) canaries.add(code);
  const rows = codes.map((code, nth) => `${code},${1000 + nth},25,EUR,FR`);
  return ['code,pin,denomination,currency,country', ...rows].join('\n');
};

/** Waits until the page says the text in its line of notices. Fails with what it says instead, such as an error. */
export const untilSaid = (page: Page, text: string): Promise<void> =>
  waitFor(async () => {
    const said = (await page.getByRole('status').allTextContents()).join(' ');
    if (!said.includes(text)) throw new Error(`The page says "${said}"`);
  }, `the page to say "${text}"`);

/** Waits for a heading and until nothing is loading. */
export const untilShown = (page: Page): Promise<void> =>
  untilTrue(
    page,
    "document.querySelector('h1') && !document.querySelector('.loading, .starting')",
    'the screen to finish loading',
  );

/** Returns what the clipboard has, from another page: those of the console may not read it. */
export async function clipboardOf(context: BrowserContext): Promise<string> {
  const elsewhere = await context.newPage();
  await elsewhere.setContent('<textarea autofocus></textarea>');
  await elsewhere.focus('textarea');
  await elsewhere.keyboard.press('Control+V');
  const text = await elsewhere.inputValue('textarea');
  await elsewhere.close();
  return text;
}

/** Saves a screenshot. Fails if the page's text or markup contains a secret. */
export async function screenshot(page: Page, name: string): Promise<void> {
  await saveScreenshot(page, 'console', name);
  const cookies = (await page.context().cookies()).map(({ value }) => value);
  const shown = `${await page.content()}\n${await page.innerText('body')}`;
  const found = [...canaries, ...cookies].filter((canary) => shown.includes(canary));
  if (found.length > 0) throw new Error(`${name} shows ${found.length} secrets`);
}
