import { readFileSync } from 'node:fs';
import { readCommandLine, refuseUsage } from '@perkway/command-line';
import { removeSeeded, seed, SeedError } from './seed.js';
import { accounts, HOUR_MS } from './synthetic-events.js';

const USAGE = `npm run seed:events -- [--events <number>] [--seed <number>] [--remove]

Fills the event store with synthetic events. Uses DATABASE_URL (the role analytics or a superuser) or else the local stack
(STACK_FILE), in which it also creates the accounts synthetic-01 to synthetic-20.

  --events <number>  number of events; default: 1000000
  --seed <number>    seed of the random numbers; default: 1
  --remove           removes the synthetic events instead`;

interface StackFile {
  databaseUrl: string;
  adminKey: string;
  hosts: Record<string, string>;
}

function readStack(): StackFile | undefined {
  if (process.env.DATABASE_URL) return undefined;
  const file = process.env.STACK_FILE || '.local/stack.json';
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StackFile;
  } catch {
    throw new SeedError(`set DATABASE_URL, or start the local stack first (cannot read ${file})`);
  }
}

const wholeNumber = (name: string, given: string, least: number): number => {
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < least)
    refuseUsage(`--${name} must be a whole number, at least ${least}`);
  return value;
};

function progressBar(total: number): (events: number) => void {
  let done = 0;
  let shown = -1;
  const started = Date.now();
  return (events) => {
    done += events;
    const percent = total === 0 ? 100 : Math.floor((done * 100) / total);
    const isTerminal = process.stderr.isTTY;
    if (percent === shown || (!isTerminal && percent % 10 !== 0)) return;
    shown = percent;
    const bar = '#'.repeat(percent >> 2).padEnd(25, '.');
    const rate = Math.round(done / Math.max(0.001, (Date.now() - started) / 1000));
    const text = `[${bar}] ${percent} %  ${done.toLocaleString('en')} events, ${rate.toLocaleString('en')}/s`;
    process.stderr.write(isTerminal ? `\r${text}${percent === 100 ? '\n' : ''}` : `${text}\n`);
  };
}

async function createAccounts({ hosts, adminKey }: StackFile): Promise<void> {
  for (const id of accounts) {
    const response = await fetch(`${hosts.token}/admin/accounts/${id}`, {
      method: 'PUT',
      headers: { 'x-api-key': adminKey, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Synthetic events ${id.slice(-2)}` }),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new SeedError(`creating the account ${id} returned ${response.status}`);
  }
}

async function main(): Promise<void> {
  const { values } = readCommandLine(USAGE, {
    options: {
      events: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
      remove: { type: 'boolean', default: false },
    },
  });
  const stack = readStack();
  const databaseUrl = stack?.databaseUrl ?? process.env.DATABASE_URL!;
  if (values.remove) {
    await removeSeeded(databaseUrl);
    process.stdout.write('The synthetic events were removed.\n');
    return;
  }
  const events = wholeNumber('events', values.events, 1);
  const plan = {
    events,
    seed: wholeNumber('seed', values.seed, 0),
    until: Math.floor(Date.now() / HOUR_MS) * HOUR_MS,
  };
  if (stack) await createAccounts(stack);
  const started = Date.now();
  const added = await seed({ databaseUrl, plan, onProgress: progressBar(events) });
  process.stdout.write(
    added === 0
      ? `The ${events.toLocaleString('en')} synthetic events exist already.\n`
      : `${added.toLocaleString('en')} synthetic events for ${accounts.length} accounts (${accounts[0]} to ${accounts.at(-1)}) in ${((Date.now() - started) / 1000).toFixed(0)} s.\n`,
  );
}

try {
  await main();
} catch (error) {
  process.stderr.write(
    `${error instanceof SeedError ? (error as Error).message : ((error as Error).stack ?? String(error))}\n`,
  );
  process.exitCode = 1;
}
