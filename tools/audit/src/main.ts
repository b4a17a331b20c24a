/**
 * Audits the gift cards: `npm run audit [-- --json]`. The database is DATABASE_URL (any role that may read the schema
 * gift_cards), else that of the local stack (STACK_FILE). Ends with 0 when everything holds, 1 when it
 * does not, 2 when it could not be found out.
 */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { auditGiftCards, type AuditedEntry, type AuditReport } from './audit.js';

const CONNECT_TIMEOUT_MS = 10_000;
/** Counting hundreds of millions of rows takes its time. */
const STATEMENT_TIMEOUT_MS = 30 * 60_000;

function databaseUrl(): string {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL;
  const file = process.env.STACK_FILE || '.local/stack.json';
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { databaseUrl: string }).databaseUrl;
  } catch {
    throw new Error(`set DATABASE_URL, or start the local stack first (there is no ${file})`);
  }
}

const HEAD = ['pool', 'entry', 'loaded', 'available', 'reserved', 'redeemed', ''];

const toCells = (entry: AuditedEntry): string[] => {
  const { shown } = entry;
  const cell = (name: keyof typeof shown) =>
    entry[name] === shown[name] ? String(entry[name]) : `${entry[name]} (shown: ${shown[name]})`;
  return [
    entry.pool,
    `${entry.denomination} ${entry.currency} ${entry.country}`,
    cell('loaded'),
    cell('available'),
    cell('reserved'),
    cell('redeemed'),
    entry.holds ? 'ok' : 'WRONG',
  ];
};

function toText({ at, entries, findings, passed }: AuditReport): string {
  const rows = [HEAD, ...entries.map(toCells)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  '),
  );
  const problems = findings.map(
    ({ check, count, examples }) => `WRONG: ${check}: ${count}, such as ${examples.join(', ')}`,
  );
  const verdict = passed
    ? 'Every card is in exactly one place, and the numbers are right.'
    : 'The audit FAILED.';
  return [`Gift cards at ${at}`, '', ...table, '', ...problems, verdict, ''].join('\n');
}

async function main(): Promise<boolean> {
  const client = new pg.Client({
    connectionString: databaseUrl(),
    application_name: 'audit',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
  });
  await client.connect();
  try {
    const report = await auditGiftCards(client);
    const isJson = process.argv.includes('--json');
    process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : toText(report));
    return report.passed;
  } finally {
    await client.end();
  }
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`The audit could not be made: ${(error as Error).message || String(error)}\n`);
  process.exitCode = 2;
}
