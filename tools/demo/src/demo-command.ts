/**
 * `perkway demo --accounts FILE --host perks=URL ...`: the journey of `npm run demo` through any deployment with the
 * demo catalogue. The file is what `perkway apply --accounts` wrote.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runDemo } from './demo.js';
import { DemoError, type Stack, type StackAccount } from './journey.js';

try {
  const { values } = parseArgs({
    options: { host: { type: 'string', multiple: true, default: [] }, accounts: { type: 'string' } },
  });
  if (!values.accounts || values.host.length === 0)
    throw new DemoError('Usage: perkway demo --accounts FILE --host perks=URL --host links=URL ...');
  const accounts = JSON.parse(readFileSync(values.accounts, 'utf8')) as StackAccount[];
  const hosts = Object.fromEntries(
    values.host.map((text) => text.split(/=(.*)/).slice(0, 2)),
  ) as Stack['hosts'];
  await runDemo({ hosts, accounts }, (line) => process.stdout.write(`${line}\n`));
} catch (error) {
  if (!(error instanceof DemoError)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
}
