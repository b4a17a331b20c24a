import { freePort } from '@perkway/local-servers';
import {
  AppProcess,
  BundledApp,
  FakeGiftCards,
  launchChromium,
  saveScreenshot,
  testEnvironment,
  testNats,
  untilTrue,
  waitFor,
  type TestNats,
} from '@perkway/testing';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

export type State =
  | 'loading'
  | 'reserved'
  | 'revealing'
  | 'revealed'
  | 'expired'
  | 'cancelled'
  | 'withdrawn'
  | 'replaced'
  | 'unknown'
  | 'missing'
  | 'unreachable'
  | 'busy';

interface SeenRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
}

/** Runs the built app as a process, a real broker, a fake gift-cards app and a browser. */
export class BrowserStage {
  /** All requests of windows opened with `window()`. */
  readonly requests: SeenRequest[] = [];
  /** Script errors and violations of the content security policy that browsers reported. */
  readonly complaints: string[] = [];
  private addresses = 0;

  private constructor(
    readonly nats: TestNats,
    readonly gifts: FakeGiftCards,
    private readonly app: AppProcess,
    readonly browser: Browser,
  ) {}

  get url(): string {
    return this.app.url;
  }

  /** Everything that the app logged, at level debug. */
  get log(): string {
    return this.app.output;
  }

  static async start(): Promise<BrowserStage> {
    const [nats, bundle] = await Promise.all([testNats(), BundledApp.build('allocation-page')]);
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const environment = testEnvironment('allocation-page', {
      nats,
      urls: { 'allocation-page': url },
      // Lets each window have its own address.
      trustedProxies: '127.0.0.1,::1',
    });
    const [gifts, browser, app] = await Promise.all([
      FakeGiftCards.start(nats.url),
      launchChromium(),
      AppProcess.spawn(bundle.path('main'), { ...environment, HOST: 'localhost', LOG_LEVEL: 'debug' }, port),
    ]);
    await app.ready();
    // The app connects to the broker in the background.
    await app.until(() => app.output.includes('connected to NATS'), 'the broker');
    return new BrowserStage(nats, gifts, app, browser);
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.gifts.close();
    await this.app.kill('SIGTERM');
    await this.nats.close();
  }

  /** Opens a browser context with its own source address. */
  async window(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    this.addresses += 1;
    const context = await this.browser.newContext({
      locale: 'en-GB',
      timezoneId: 'Europe/Paris',
      extraHTTPHeaders: { 'x-forwarded-for': `198.51.100.${this.addresses % 250}` },
      ...options,
    });
    context.setDefaultTimeout(15_000);
    context.on('request', (request) => {
      this.requests.push({ url: request.url(), method: request.method(), headers: request.headers() });
    });
    context.on('weberror', (error) => this.complaints.push(String(error.error())));
    context.on('console', (message) => {
      if (/content security policy|trusted ?type/i.test(message.text())) this.complaints.push(message.text());
    });
    return context;
  }

  linkTo(token: string, query = ''): string {
    return `${this.url}/${query}#${token}`;
  }

  /** Number of reveal requests that pages have sent for a link. */
  revealsOf(token: string): number {
    return this.requests.filter(
      ({ url, headers }) =>
        new URL(url).pathname.endsWith('/reveal') && headers.authorization === `Bearer ${token}`,
    ).length;
  }

  /** Opens a link and waits for the expected state. */
  async open(context: BrowserContext, token: string, state: State, query = ''): Promise<Page> {
    const page = await context.newPage();
    await this.show(page, token, state, query);
    return page;
  }

  /** Opens a link in a page. On a busy machine, the fake gift-cards app may respond too late for the page: tries again. */
  async show(page: Page, token: string, state: State, query = ''): Promise<void> {
    await page.goto(this.linkTo(token, query));
    for (;;) {
      await untilTrue(page, `${isIn(state)} || ${isIn('unreachable')}`, `the state ${state}`);
      if (await page.evaluate(isIn(state))) return;
      await page.click('[data-retry]');
    }
  }
}

const isIn = (state: State): string => `document.querySelector('main[data-state="${state}"]') !== null`;
export const untilState = (page: Page, state: State, deadlineMs?: number): Promise<void> =>
  untilTrue(page, isIn(state), `the state ${state}`, deadlineMs);

/** Waits until no animation runs. */
export async function untilStill(page: Page): Promise<void> {
  const running = () => page.evaluate('document.getAnimations().length');
  await waitFor(async () => (await running()) === 0, 'the end of all animations');
}

export const screenshot = (page: Page, name: string) => saveScreenshot(page, 'allocation-page', name);
