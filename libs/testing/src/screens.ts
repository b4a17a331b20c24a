import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { waitFor } from './wait-for.js';

const ARTIFACTS = join(resolve(__dirname, '../../..'), 'artifacts');

/** Waits until an expression is true in the page. Playwright's own waits check less often, in the end every 500 ms. */
export const untilTrue = (page: Page, expression: string, what: string, deadlineMs = 20_000): Promise<void> =>
  waitFor(() => page.evaluate<boolean>(`Boolean(${expression})`), what, deadlineMs);

/** Returns whether anything is wider than the window. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** Saves a screenshot of the whole page in a folder of the artifacts. */
export async function saveScreenshot(page: Page, folder: string, name: string): Promise<void> {
  mkdirSync(join(ARTIFACTS, folder), { recursive: true });
  // JPEG, because encoding PNG takes half again as long.
  await page.screenshot({ path: join(ARTIFACTS, folder, `${name}.jpg`), fullPage: true });
}
