import { constants } from 'node:fs';
import { chown, copyFile, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { withAdminClient } from './provision-database.js';

/** The WAL range of a base backup, as LSNs such as `0/3000028`. */
export interface BaseBackup {
  startLsn: string;
  /** A copy is consistent only after it has replayed the WAL up to here. */
  endLsn: string;
}

/** Not copied: files of the running server, signal files, and the WAL, which is streamed or restored separately. */
const SKIPPED_FILES = new Set(['postmaster.pid', 'postmaster.opts', 'standby.signal', 'recovery.signal']);
const EMPTIED_FOLDERS = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
/** Copied last, because it may not be older than the other files. */
const CONTROL_FILE = join('global', 'pg_control');
const CONCURRENT_COPIES = 8;

const isGone = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

async function copyCluster(from: string, to: string): Promise<void> {
  const { uid, gid } = await lstat(from);
  const isRoot = process.getuid?.() === 0;
  const own = async (path: string) => {
    if (isRoot) await chown(path, uid, gid);
  };
  const copy = async (path: string) => {
    try {
      await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE);
    } catch (error) {
      // The table was dropped meanwhile, and the WAL has the drop.
      if (isGone(error)) return;
      throw error;
    }
    await own(join(to, path));
  };
  const files: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    await mkdir(join(to, folder), { mode: 0o700 });
    await own(join(to, folder));
    if (EMPTIED_FOLDERS.has(folder)) return;
    const entries = await readdir(join(from, folder), { withFileTypes: true }).catch((error: unknown) => {
      if (isGone(error)) return [];
      throw error;
    });
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await walk(path);
      else if (entry.isSymbolicLink())
        throw new Error(`${path} is a symbolic link; a base backup cannot copy it`);
      else if (!SKIPPED_FILES.has(entry.name) && !entry.name.startsWith('pgsql_tmp') && path !== CONTROL_FILE)
        files.push(path);
    }
  };
  await walk('');
  const copyNext = async (): Promise<void> => {
    for (let path = files.pop(); path !== undefined; path = files.pop()) await copy(path);
  };
  await Promise.all(Array.from({ length: CONCURRENT_COPIES }, copyNext));
  for (const folder of [join('pg_wal', 'archive_status'), join('pg_wal', 'summaries')]) {
    await mkdir(join(to, folder), { mode: 0o700 });
    await own(join(to, folder));
  }
  await copy(CONTROL_FILE);
}

/**
 * Copies the data folder of a running server on this machine, even under load. Replaces pg_basebackup, which npm's
 * binaries lack. The copy has no WAL, so it needs a source of WAL to start: `standby.signal` and `primary_conninfo`, or
 * `recovery.signal` and `restore_command`.
 *
 * @param url connects to that server as a superuser
 * @param from the server's data folder
 * @param to the folder to create
 */
export async function takeBaseBackup(options: {
  url: string;
  from: string;
  to: string;
}): Promise<BaseBackup> {
  const { url } = options;
  const [from, to] = [resolve(options.from), resolve(options.to)];
  // The backup must start and stop in one session.
  return withAdminClient(url, async (client) => {
    const { rows: start } = await client.query<{ lsn: string }>(
      `select pg_backup_start('base backup', fast => true)::text as lsn`,
    );
    try {
      await copyCluster(from, to);
      const { rows: end } = await client.query<{ lsn: string; label: string }>(
        'select lsn::text, labelfile as label from pg_backup_stop(wait_for_archive => false)',
      );
      const label = join(to, 'backup_label');
      await writeFile(label, end[0]!.label, { mode: 0o600 });
      if (process.getuid?.() === 0) {
        const { uid, gid } = await lstat(to);
        await chown(label, uid, gid);
      }
      return { startLsn: start[0]!.lsn, endLsn: end[0]!.lsn };
    } catch (error) {
      await rm(to, { recursive: true, force: true });
      throw error;
    }
  });
}
