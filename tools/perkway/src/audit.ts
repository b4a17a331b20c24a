import { audit } from '@perkway/audit';
import { readCommandLine, refuseUsage } from '@perkway/command-line';
import { readFileSync } from 'node:fs';

const USAGE = `npm run audit -- [--json] [--grace <seconds>]

Checks that every gift card is in exactly one place, and compares the events of links and the events of the stream with stored
rows. Prints ids only, never codes, tokens or keys. Exits with 0 if there is no finding, 1 if there is one, 2 if the audit could
not run. Without DATABASE_URL, audits the local stack (STACK_FILE).

  DATABASE_URL            a role that may read the schema gift_cards
  ANALYTICS_DATABASE_URL  the database with the events; default: DATABASE_URL
  NATS_URL                a user with all permissions

  --json             prints the report as JSON
  --grace <seconds>  ignores events younger than this, which may be in transit; default: 300`;

interface Servers {
  databaseUrl: string;
  analyticsUrl?: string;
  natsUrl?: string;
}

function findServers(): Servers {
  const { DATABASE_URL, ANALYTICS_DATABASE_URL, NATS_URL } = process.env;
  if (DATABASE_URL)
    return { databaseUrl: DATABASE_URL, analyticsUrl: ANALYTICS_DATABASE_URL, natsUrl: NATS_URL };
  const file = process.env.STACK_FILE || '.local/stack.json';
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Servers;
  } catch {
    throw new Error(`set DATABASE_URL, or start the local stack first (cannot read ${file})`);
  }
}

async function main(): Promise<boolean> {
  const { values } = readCommandLine(USAGE, {
    options: { json: { type: 'boolean' }, grace: { type: 'string' } },
  });
  const graceS = values.grace === undefined ? undefined : Number(values.grace);
  if (graceS !== undefined && !(graceS >= 0)) refuseUsage('--grace must be a number of seconds');
  const { passed, report, output } = await audit({ ...findServers(), graceS });
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : output);
  return passed;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`The audit could not run: ${(error as Error).message || String(error)}\n`);
  process.exitCode = 2;
}
