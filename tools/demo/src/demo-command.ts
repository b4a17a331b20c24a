import { readFileSync } from 'node:fs';
import { readCommandLine, refuseUsage } from '@perkway/command-line';
import { runDemo } from './demo.js';
import { DemoError, type Stack, type StackAccount } from './journey.js';

const USAGE = `perkway demo --accounts <file> --host <name>=<url> ...

Runs one customer journey on a deployment that has the demo catalogue, and checks that every interaction was counted.

  --accounts <file>    the file that perkway apply --accounts wrote
  --host <name>=<url>  a host, such as perks=https://perks.example; repeat for each`;

function readAccounts(file: string): StackAccount[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StackAccount[];
  } catch (error) {
    throw new DemoError(`${file} was not written by perkway apply --accounts: ${(error as Error).message}.`);
  }
}

try {
  const { values } = readCommandLine(USAGE, {
    options: { host: { type: 'string', multiple: true, default: [] }, accounts: { type: 'string' } },
  });
  if (!values.accounts || values.host.length === 0)
    refuseUsage('--accounts and at least one --host are required');
  for (const text of values.host)
    if (!/^[a-z]+=https?:\/\/./.test(text)) refuseUsage(`"${text}" must have the form <name>=<url>`);
  const accounts = readAccounts(values.accounts);
  const hosts = Object.fromEntries(
    values.host.map((text) => text.split(/=(.*)/).slice(0, 2)),
  ) as Stack['hosts'];
  await runDemo({ hosts, accounts }, (line) => process.stdout.write(`${line}\n`));
} catch (error) {
  if (!(error instanceof DemoError)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
}
