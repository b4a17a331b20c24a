import { freePort } from '@perkway/local-servers';
import { testEnvironment, testNats, type TestNats } from '@perkway/testing';
import axe, { type AxeResults } from 'axe-core';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core';
import { GiftCardsResponder } from '../gift-cards-responder.js';

const ROOT = resolve(__dirname, '../../../..');
const MAIN = join(ROOT, 'dist/allocation-page/main.js');
const SCREENSHOTS = join(ROOT, 'artifacts/allocation-page');

export type State =
  'loading' | 'reserved' | 'revealing' | 'revealed' | 'expired' | 'unknown' | 'missing' | 'away' | 'busy';

interface SeenRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
}

/** The built app as a process of its own, a real broker, the owner of the links, and a browser. */
export class BrowserStage {
  /** Every request of every browser window, but for those that began at a mangled address. */
  readonly requests: SeenRequest[] = [];
  /** What browsers complained about: script errors, and violations of the content security policy. */
  readonly complaints: string[] = [];
  /** All that the app has written, at level debug. */
  log = '';
  private addresses = 0;

  private constructor(
    readonly nats: TestNats,
    readonly gifts: GiftCardsResponder,
    readonly url: string,
    private readonly app: ChildProcess,
    readonly browser: Browser,
  ) {
    for (const stream of [app.stdout!, app.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.log += text));
  }

  static async start(): Promise<BrowserStage> {
    const nats = await testNats();
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const environment = testEnvironment('allocation-page', {
      nats,
      urls: { 'allocation-page': url },
      // So that each window can have an address of its own.
      trustedProxies: '127.0.0.1,::1',
    });
    const app = spawn(process.execPath, [MAIN], {
      env: { ...environment, HOST: 'localhost', PORT: String(port), LOG_LEVEL: 'debug' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [gifts, browser] = await Promise.all([GiftCardsResponder.start(nats.url), launchChromium()]);
    const stage = new BrowserStage(nats, gifts, url, app, browser);
    await stage.untilReady();
    return stage;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.gifts.stop();
    const exited = once(this.app, 'exit');
    this.app.kill('SIGTERM');
    await exited;
    await this.nats.close();
  }

  /** A window of its own, with an address of its own. */
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

  /** Opens a link and waits for the state that it should show. */
  async open(context: BrowserContext, token: string, state: State, query = ''): Promise<Page> {
    const page = await context.newPage();
    await page.goto(this.linkTo(token, query));
    await untilState(page, state);
    return page;
  }

  private async untilReady(): Promise<void> {
    for (const started = Date.now(); Date.now() - started < 20_000; await sleep(50)) {
      if (this.app.exitCode !== null) break;
      const answer = await fetch(`${this.url}/livez`).catch(() => undefined);
      // The broker is reached in the background.
      if (answer?.ok && this.log.includes('connected to NATS')) return;
    }
    throw new Error(`The app did not start:\n${this.log}`);
  }
}

function launchChromium(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    throw new Error(`No Chromium at ${executablePath}: apt-get install chromium`);
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export const untilState = (page: Page, state: State): Promise<unknown> =>
  page.waitForSelector(`main[data-state="${state}"]`);

/** Waits for the end of all animations. */
export async function untilStill(page: Page): Promise<void> {
  while ((await page.evaluate('document.getAnimations().length')) !== 0) await sleep(50);
}

/** The violations of WCAG 2.2 AA and of best practice, as lines to compare with none. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const results = await page.evaluate<AxeResults>('axe.run()');
  return results.violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
  );
}

/** True if something is wider than the window. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}
