import { lstat, chown, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeBaseBackup } from './base-backup.js';
import type { LocalServer } from './local-server.js';
import { startPostgres, type PostgresOptions } from './postgres-server.js';
import { withAdminClient } from './provision-database.js';

/** Settings for a server with a standby, `durable` or not. */
export const REPLICATING = { wal_level: 'replica', max_wal_senders: '10', wal_keep_size: '1GB' };

export interface StandbyOptions extends PostgresOptions {
  /** Must run with the settings `REPLICATING`. */
  primary: { url: string; dataDir: string };
  /** The standby's application name, used in `synchronous_standby_names`. */
  name: string;
}

const CONNECT_LIMIT_MS = 30_000;

/** Quotes a string for a Postgres configuration file. */
const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

function connectionInfo(primaryUrl: string, name: string): string {
  const { hostname, port, username, password } = new URL(primaryUrl);
  const fields = {
    host: hostname,
    port,
    user: decodeURIComponent(username),
    ...(password && { password: decodeURIComponent(password) }),
    application_name: name,
    connect_timeout: '5',
  };
  return Object.entries(fields)
    .map(([field, value]) => `${field}='${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`)
    .join(' ');
}

/** Copies the primary and starts a hot standby from the copy. Resolves when it is streaming. */
export async function startStandby({ primary, name, ...options }: StandbyOptions): Promise<LocalServer> {
  const dataDir = resolve(options.dataDir);
  await takeBaseBackup({ url: primary.url, from: primary.dataDir, to: dataDir });
  const { uid, gid } = await lstat(dataDir);
  const files = {
    'standby.signal': '',
    // Replaces the copied file, so that the standby does not wait for a standby of its own after a promotion.
    'postgresql.auto.conf': `primary_conninfo = ${quoted(connectionInfo(primary.url, name))}\n`,
  };
  for (const [file, text] of Object.entries(files)) {
    await writeFile(join(dataDir, file), text, { mode: 0o600 });
    if (process.getuid?.() === 0) await chown(join(dataDir, file), uid, gid);
  }
  const server = await startPostgres({
    ...options,
    dataDir,
    settings: { ...REPLICATING, ...options.settings },
  });
  const follows = `select from pg_stat_replication where application_name = $1 and state = 'streaming'`;
  await withAdminClient(primary.url, async (client) => {
    const deadline = Date.now() + CONNECT_LIMIT_MS;
    while ((await client.query(follows, [name])).rowCount === 0) {
      if (Date.now() > deadline) throw new Error(`the standby ${name} does not follow ${primary.dataDir}`);
      await sleep(20);
    }
  });
  return server;
}

/**
 * Makes each commit wait for one of these standbys. With an empty list commits do not wait, and a promotion may lose
 * the latest. Resolves when the setting has taken effect.
 */
export async function setSynchronousStandbys(primaryUrl: string, names: string[]): Promise<void> {
  const value = names.length === 0 ? '' : `ANY 1 (${names.map((name) => `"${name}"`).join(', ')})`;
  await withAdminClient(primaryUrl, async (client) => {
    await client.query(`alter system set synchronous_standby_names = ${client.escapeLiteral(value)}`);
    await client.query('select pg_reload_conf()');
    const deadline = Date.now() + CONNECT_LIMIT_MS;
    for (;;) {
      const { rows } = await client.query<{ value: string; synced: boolean }>(
        `select current_setting('synchronous_standby_names') as value,
           exists (select from pg_stat_replication where sync_state in ('sync', 'quorum')) as synced`,
      );
      if (rows[0]!.value === value && rows[0]!.synced === names.length > 0) return;
      if (Date.now() > deadline)
        throw new Error(`synchronous_standby_names = '${value}' has not taken effect yet`);
      await sleep(20);
    }
  });
}

/** Stops a standby's replication. Resolves when it has stopped. */
export const stopFollowing = (url: string): Promise<void> =>
  withAdminClient(url, async (client) => {
    await client.query(`alter system set primary_conninfo = ''`);
    await client.query('select pg_reload_conf()');
    const deadline = Date.now() + CONNECT_LIMIT_MS;
    while ((await client.query('select from pg_stat_wal_receiver')).rowCount !== 0) {
      if (Date.now() > deadline) throw new Error('the standby does not stop replicating');
      await sleep(20);
    }
  });

/** Promotes a standby. Resolves when it accepts writes. The caller must keep clients away from the old primary. */
export const promoteStandby = (url: string): Promise<void> =>
  withAdminClient(url, async (client) => {
    const { rows } = await client.query<{ promoted: boolean }>(
      'select pg_promote(wait_seconds => 30) as promoted',
    );
    if (!rows[0]!.promoted) throw new Error('the standby was not promoted within 30 s');
  });
