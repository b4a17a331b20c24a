import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine, refuseUsage } from '@perkway/command-line';
import { TooBusy } from './compare.js';
import { Fleet } from './fleet.js';
import type { Scenario } from './scenario.js';

const SUFFIX = '.bench.ts';
const here = import.meta.dirname;
const known = readdirSync(here)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .sort();

const USAGE = `npm run bench -- <name> ...

Compares built apps with a bare server or database, in alternating rounds. Only the ratios are meaningful, and only on an
otherwise idle machine. Names: ${known.join(', ')}.

Exits with 1 if a target was missed, and with 3 if other processes used too much of the machine to judge.`;

const { positionals: wanted } = readCommandLine(USAGE, { allowPositionals: true });
const unknown = wanted.filter((name) => !existsSync(join(here, name + SUFFIX)));
if (wanted.length === 0 || unknown.length > 0)
  refuseUsage(`Unknown or missing name. Names: ${known.join(', ')}`);

let missed = 0;
let tooBusy = false;
for (const name of wanted) {
  const { scenario } = (await import(`./${name}${SUFFIX}`)) as { scenario: Scenario };
  process.stdout.write(`\n# ${scenario.title}\n`);
  const { apps, programs } = scenario;
  const fleet = await Fleet.start(apps, (message) => process.stderr.write(`${message}\n`), { programs });
  const stop = () => void fleet.stop().finally(() => process.exit(130));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    missed += await scenario.run(fleet);
  } catch (error) {
    if (!(error instanceof TooBusy)) throw error;
    tooBusy = true;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await fleet.stop();
  }
}
process.exit(missed > 0 ? 1 : tooBusy ? 3 : 0);
