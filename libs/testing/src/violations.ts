import type { AxeResults } from 'axe-core';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

/** The violations of WCAG 2.2 AA and of best practice, as lines to compare with none. */
export async function violations(page: Page): Promise<string[]> {
  const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
  // Nothing of it is brought here.
  await page.evaluate(`${axe};0`);
  // Every rule is tried at every element. What passed is neither described nor brought here: that took the most time.
  const found = await page.evaluate<AxeResults['violations']>(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return found.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 300)} ${failureSummary}`).join('; ')}`,
  );
}
