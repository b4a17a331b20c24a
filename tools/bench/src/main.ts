/**
 * `npm run bench -- perks [more names]`: measures built apps against a bare server, in alternating rounds of one run.
 * Only the ratios mean anything; a run on a busy machine says little.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Fleet } from './fleet.js';
import type { Scenario } from './scenario.js';

const SUFFIX = '.bench.ts';
const here = import.meta.dirname;
const known = readdirSync(here)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .sort();

const wanted = process.argv.slice(2).filter((name) => name !== '--');
const unknown = wanted.filter((name) => !existsSync(join(here, name + SUFFIX)));
if (wanted.length === 0 || unknown.length > 0) {
  process.stderr.write(`Say what to measure: npm run bench -- <name>, with a name of ${known.join(', ')}.\n`);
  process.exit(1);
}

let missed = 0;
for (const name of wanted) {
  const { scenario } = (await import(`./${name}${SUFFIX}`)) as { scenario: Scenario };
  process.stdout.write(`\n# ${scenario.title}\n`);
  const { apps, programs } = scenario;
  const fleet = await Fleet.start(apps, (message) => process.stderr.write(`${message}\n`), { programs });
  const stop = () => void fleet.stop().finally(() => process.exit(130));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    missed += await scenario.run(fleet);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await fleet.stop();
  }
}
process.exit(missed > 0 ? 1 : 0);
