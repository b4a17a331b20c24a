import { createConfig, formatProblems, getTotals, lint } from '@redocly/openapi-core';
import { APPS } from '@perkway/fleet';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Checks dist/openapi/<app>.json with the rules of redocly.yaml. Warnings fail too.

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '../../..');

const config = await createConfig(readFileSync(join(HERE, '../redocly.yaml'), 'utf8'));
const problems = [];
for (const app of APPS)
  problems.push(...(await lint({ ref: join(ROOT, `dist/openapi/${app}.json`), config })));
if (problems.length > 0) {
  formatProblems(problems, { format: 'codeframe', cwd: ROOT, totals: getTotals(problems), version: '' });
  process.exitCode = 1;
}
