import { readCommandLine, refuseUsage } from '@perkway/command-line';
import { withBroker } from '@perkway/local-servers';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { auditGiftCards, type AuditedEntry, type AuditReport, type Finding } from './audit.js';
import { compareEvents, type EventsReport } from './compare-events.js';

const USAGE = `npm run audit -- [--json] [--grace <seconds>]

Audits the gift cards, and compares the events of links and of the stream with stored rows. Reads DATABASE_URL (any role that
may read the schema gift_cards), ANALYTICS_DATABASE_URL for the events (default: the same database) and NATS_URL (a user with
all permissions); without DATABASE_URL it uses the local stack (STACK_FILE). Exits with 0 if everything holds, 1 if not, 2 if
the audit could not run. Prints ids only, never codes, tokens or keys.

  --json             prints the report as JSON
  --grace <seconds>  ignores events younger than this, which may be in transit; default: 300`;

const CONNECT_TIMEOUT_MS = 10_000;

/** Longer than the ingest normally takes to store an event. */
const GRACE_S = 300;

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
    throw new Error(`set DATABASE_URL, or start the local stack first (${file} does not exist)`);
  }
}

const HEAD = ['pool', 'entry', 'loaded', 'available', 'reserved', 'redeemed', 'withdrawn', 'lapsed', ''];

const toCells = (entry: AuditedEntry): string[] => {
  const { shown } = entry;
  const cell = (name: keyof typeof shown) =>
    entry[name] === shown[name] ? String(entry[name]) : `${entry[name]} (shown: ${shown[name]})`;
  return [
    entry.pool,
    [entry.denomination, entry.currency, entry.country, entry.valid_until].filter(Boolean).join(' '),
    cell('loaded'),
    cell('available'),
    cell('reserved'),
    cell('redeemed'),
    cell('withdrawn'),
    cell('lapsed'),
    entry.holds ? 'ok' : 'WRONG',
  ];
};

const problemOf = ({ check, count, examples }: Finding): string =>
  `WRONG: ${check}: ${count}, ${examples.length < count ? 'such as ' : ''}${examples.join(', ')}`;

function toText({ at, entries, findings, passed }: AuditReport, events: EventsReport): string {
  const rows = [HEAD, ...entries.map(toCells)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  '),
  );
  const compared = `Compared: ${events.links} links${events.streamed === undefined ? '' : `, ${events.streamed} events of the stream`}.`;
  return [
    `Gift cards at ${at}`,
    '',
    ...table,
    '',
    ...findings.map(problemOf),
    passed ? 'Every card is in exactly one place, and the numbers are right.' : 'The audit FAILED.',
    '',
    ...events.findings.map(problemOf),
    compared,
    ...events.notCompared.map((what) => `Not compared: ${what}.`),
    events.findings.length === 0 ? 'Rows and events agree.' : 'Rows and events DIFFER.',
    '',
  ].join('\n');
}

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString,
    application_name: 'audit',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function readGrace(text: string | undefined): number {
  const graceS = Number(text ?? GRACE_S);
  if (!(graceS >= 0)) refuseUsage('--grace must be a number of seconds');
  return graceS;
}

async function main(): Promise<boolean> {
  const { values } = readCommandLine(USAGE, {
    options: { json: { type: 'boolean' }, grace: { type: 'string' } },
  });
  const graceS = readGrace(values.grace);
  const { databaseUrl, analyticsUrl, natsUrl } = findServers();
  return withClient(databaseUrl, (giftCards) =>
    withClient(analyticsUrl ?? databaseUrl, async (analytics) => {
      const sources = { giftCards, analytics, graceS };
      const events = natsUrl
        ? await withBroker(natsUrl, (broker) => compareEvents({ ...sources, broker }))
        : await compareEvents(sources);
      const report = await auditGiftCards(giftCards);
      const passed = report.passed && events.findings.length === 0;
      process.stdout.write(
        values.json ? `${JSON.stringify({ ...report, events, passed }, null, 2)}\n` : toText(report, events),
      );
      return passed;
    }),
  );
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`The audit could not run: ${(error as Error).message || String(error)}\n`);
  process.exitCode = 2;
}
