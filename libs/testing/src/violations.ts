import type { AxeResults } from 'axe-core';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

/** Lists the violations of axe's rules: WCAG 2.2 AA and best practices. Compare it with an empty array. */
export async function violations(page: Page): Promise<string[]> {
  // Once per document, because it is half a megabyte.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) {
    const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
    // `;0` keeps Playwright from serializing axe itself.
    await page.evaluate(`${axe};0`);
  }
  // axe's only rule for the criteria that WCAG 2.2 added is off by default.
  const options = { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } };
  // Every rule runs on every element. Passed checks are not reported, because describing them took most of the time.
  const found = await page.evaluate<AxeResults['violations']>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return found.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 300)} ${failureSummary}`).join('; ')}`,
  );
}
