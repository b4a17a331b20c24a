import { writeFileSync } from 'node:fs';

import { readCommandLine } from '@perkway/command-line';
import { applyCatalogue, type Outcome } from './apply-catalogue.js';
import { CatalogueError } from './catalogue-error.js';
import { COMMAND_LINE, readSettings, USAGE } from './settings.js';

const counts: Record<Outcome['what'], number> = { created: 0, changed: 0, unchanged: 0 };
const { stdout, stderr } = process;

try {
  const settings = readSettings(readCommandLine(USAGE, COMMAND_LINE), process.env, process.cwd());
  const { accounts } = await applyCatalogue({
    ...settings,
    needsAllHosts: true,
    onProgress: ({ done, total, outcome }) => {
      if (!outcome) return;
      const { what, kind, id, differences } = outcome;
      counts[what] += 1;
      if (stderr.isTTY) stderr.write('\r\u001b[K');
      stdout.write(`${what} ${kind} ${id}\n${differences.map((line) => `    ${line}\n`).join('')}`);
      if (stderr.isTTY) stderr.write(`${done} of ${total}`);
    },
  });
  if (stderr.isTTY) stderr.write('\r\u001b[K');
  if (settings.accountsFile) writeFileSync(settings.accountsFile, JSON.stringify(accounts, null, 2));
  const { created, changed, unchanged } = counts;
  stderr.write(
    `${created} created, ${changed} changed, ${unchanged} unchanged${settings.isDryRun ? '; nothing was written' : ''}\n`,
  );
} catch (error) {
  if (!(error instanceof CatalogueError)) throw error;
  if (stderr.isTTY) stderr.write('\r\u001b[K');
  stderr.write(`${error.problems.join('\n')}\n`);
  process.exitCode = 1;
}
