import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const hasPgbench = (() => {
  try {
    execFileSync('pgbench', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** The client that repeats the statements. */
export const STATEMENT_CLIENT = hasPgbench ? 'pgbench' : 'node-postgres';

export interface StatementLoad {
  /** The database's URL. */
  url: string;
  schema: string;
  /** A single statement without parameters, which is one transaction. */
  sql: string;
  clients: number;
  seconds: number;
}

/** Repeats a prepared statement on `clients` connections. @returns statements per second */
export const statementRate = (load: StatementLoad): Promise<number> =>
  hasPgbench ? byPgbench(load) : byNodePostgres(load);

async function byPgbench({ url, schema, sql, clients, seconds }: StatementLoad): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'perkway-pgbench-'));
  try {
    const file = join(folder, 'statement.sql');
    writeFileSync(file, `${sql.replace(/\s+/g, ' ').trim()};\n`);
    const options = [
      '-n',
      '-M',
      'prepared',
      '-c',
      String(clients),
      '-j',
      '2',
      '-T',
      String(seconds),
      '-f',
      file,
    ];
    const { hostname, port, username, password, pathname } = new URL(url);
    const env = {
      PATH: process.env.PATH,
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: decodeURIComponent(username),
      PGPASSWORD: decodeURIComponent(password),
      PGDATABASE: pathname.slice(1),
      PGOPTIONS: `-c search_path=${schema}`,
    };
    const { stdout } = await promisify(execFile)('pgbench', options, { env });
    const tps = /^tps = ([\d.]+)/m.exec(stdout)?.[1];
    if (!tps) throw new Error(`unexpected output of pgbench: ${stdout}`);
    return Number(tps);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function byNodePostgres({ url, schema, sql, clients, seconds }: StatementLoad): Promise<number> {
  const end = Date.now() + seconds * 1_000;
  const counts = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
      await client.connect();
      let count = 0;
      for (; Date.now() < end; count += 1) await client.query({ name: 'statement', text: sql });
      await client.end();
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}
