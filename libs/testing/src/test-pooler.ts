import { chmod, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, onPath, ServerProcess } from '@perkway/local-servers';
import pg from 'pg';
import { runFolder } from './test-servers.js';
import { waitFor } from './wait-for.js';

/** Debian installs it where only root's PATH finds it. */
const DEBIAN = '/usr/sbin/pgbouncer';
/** Undefined if pgbouncer is not installed. CI installs it. */
export const pgbouncer = onPath('pgbouncer') ?? (existsSync(DEBIAN) ? DEBIAN : undefined);

export interface TestPooler {
  /** Returns the URL of the same database and role through the pooler. */
  through(url: string): string;
  /** The last 4 KiB of the pooler's log, with the errors that it returned. */
  log(): string;
  close(): Promise<void>;
}

/**
 * Starts a pgbouncer in transaction mode in front of `url`, with so few connections that transactions constantly switch
 * between them.
 */
export async function testPooler(url: string, poolSize = 2): Promise<TestPooler> {
  const folder = runFolder('pooler');
  const port = await freePort();
  const { hostname, port: serverPort } = new URL(url);
  const configuration = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  await writeFile(users, `"${new URL(url).username}" ""\n`, { mode: 0o644 });
  await writeFile(
    configuration,
    [
      '[databases]',
      `* = host=${hostname} port=${serverPort}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      // The test server trusts every connection too.
      'auth_type = trust',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      `default_pool_size = ${poolSize}`,
      'max_client_conn = 500',
      '',
    ].join('\n'),
  );
  await Promise.all([chmod(folder, 0o755), chmod(configuration, 0o644)]);
  const process_ = await ServerProcess.launch({
    command: pgbouncer!,
    // pgbouncer refuses to run as root.
    args: [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), configuration],
    logFile: join(folder, 'log'),
    dieWithParent: true,
  });
  const through = (direct: string): string => {
    const pooled = new URL(direct);
    pooled.host = `127.0.0.1:${port}`;
    return pooled.href;
  };
  await waitFor(async () => {
    const client = new pg.Client({ connectionString: through(url), connectionTimeoutMillis: 1_000 });
    await client.connect();
    await client.end();
  }, 'the pooler');
  return {
    through,
    log: () => process_.logTail(),
    close: async () => {
      await process_.stop([{ signal: 'SIGKILL', graceMs: 5_000 }]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
