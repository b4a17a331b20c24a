import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPerkway } from '@perkway/client';
import { readCommandLine } from '@perkway/command-line';
import { LocalStack } from '@perkway/test-fleet';
import { chromium, type Page } from 'playwright-core';

const ROOT = resolve(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, 'docs/pictures');
/** Small enough for the README of a fresh clone. */
const MAX_BYTES = 60_000;
const COUNT_LIMIT_MS = 60_000;

readCommandLine(
  `npm run pictures

Takes the pictures in docs/pictures from the demo data, on a stack of its own. Needs Chromium: Debian's, or the one that
CHROMIUM names. The figures are those of the last full month, so the pictures change once a month.`,
  {},
);

const day = (month: number, date: number) => {
  const today = new Date();
  return new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + month, date)).toISOString();
};

/** WebP is half the size of PNG; only Chromium's own protocol offers it. */
async function take(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 60 });
  const picture = Buffer.from(data, 'base64');
  if (picture.length > MAX_BYTES)
    throw new Error(`${name} has ${picture.length} bytes, at most ${MAX_BYTES}.`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${name}.webp`), picture);
  process.stdout.write(`docs/pictures/${name}.webp: ${picture.length} bytes\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'perkway-pictures-'));
try {
  const running = await LocalStack.start({ folder });
  const stack = running.file;
  try {
    const account = stack.accounts.find(({ id }) => id === 'ostervale-bank')!;
    const perkway = createPerkway({ apiKey: account.userKey, hosts: stack.hosts });
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu'],
    });
    try {
      const options = {
        locale: 'en-GB',
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
        colorScheme: 'light',
      } as const;
      const context = await browser.newContext({ ...options, viewport: { width: 1_280, height: 820 } });
      const page = await context.newPage();
      // The history of the demo is published in order, so once its last day is counted, the month before is complete.
      const [from, to] = [day(-1, 1), day(0, 0)].map((time) => time.slice(0, 10));
      const query = {
        measures: ['teaser_views.count'],
        timeDimensions: [{ dimension: 'teaser_views.occurred_at', dateRange: 'yesterday' }],
      };
      const deadline = Date.now() + COUNT_LIMIT_MS;
      for (;;) {
        const { data } = (await perkway.analytics.loadByPost({ query })) as {
          data: Record<string, string>[];
        };
        if (Number(data[0]?.['teaser_views.count'] ?? 0) > 0) break;
        if (Date.now() > deadline) throw new Error('The demo history was not counted.');
        await sleep(500);
      }

      await page.goto(stack.hosts.console);
      await page.getByLabel('API key').fill(account.userKey);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.locator('[data-figure=clicks]').waitFor();
      await page.goto(`${stack.hosts.console}/?from=${from}&to=${to}`);
      await page.locator('.chart .line').first().waitFor();
      await page.locator('[data-verdict][data-outcome=converters][aria-busy=false]').waitFor();
      await page.waitForLoadState('networkidle');
      await take(page, 'console');

      const [pool] = await perkway.gift.getGiftCardPools();
      const [inventory] = pool!.inventories.filter(({ available }) => available > 0);
      const link = await perkway.gift.generateRewardLink({
        poolId: pool!.id,
        idempotencyKey: randomUUID(),
        createdBy: 'pictures',
        denomination: inventory!.denomination,
        currency: inventory!.currency,
        country: inventory!.country,
        expires_at: Date.parse(day(2, 1)) / 1_000 - 1,
      });
      const phone = await browser.newContext({ ...options, viewport: { width: 420, height: 880 } });
      const gift = await phone.newPage();
      await gift.goto(link.reward_link);
      await gift.locator('[data-reveal]').waitFor();
      await gift.waitForLoadState('networkidle');
      await take(gift, 'allocation-page');
    } finally {
      await browser.close();
    }
  } finally {
    await running.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
