import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { ComposeStack } from './compose-stack.js';

const COPY_LIMIT_MS = 120_000;

export async function adminUrl(stack: ComposeStack): Promise<string> {
  const password = readFileSync(join(stack.options.secrets, 'database/POSTGRES_PASSWORD'), 'utf8').trim();
  return `postgres://postgres:${encodeURIComponent(password)}@${await stack.address('database')}:5432/perkway`;
}

/** Runs a shell script as root over volumes; paths in it are the names of the volumes. */
async function overVolumes(stack: ComposeStack, volumes: string[], script: string): Promise<void> {
  const mounts = volumes.flatMap((volume) => ['--volume', `${volume}:/${volume}`]);
  const args = ['run', '--rm', '--network', 'none', '--user', '0', '--entrypoint', 'sh', ...mounts];
  await stack.engine.docker([...args, 'postgres:18-bookworm', '-ec', script], { timeoutMs: COPY_LIMIT_MS });
}

/**
 * Copies the database and the stream of a running stack so that both agree: the broker stands still meanwhile, and the
 * events of that moment wait in the outboxes, which are part of the database. Answers the names of the volumes.
 */
export async function takeBackup(stack: ComposeStack): Promise<{ database: string; broker: string }> {
  const { project } = stack.options;
  const [broker] = await stack.containers('broker');
  const copies = { database: `${project}-backup-database`, broker: `${project}-backup-broker` };
  const client = new pg.Client(await adminUrl(stack));
  await client.connect();
  try {
    // The log of the time of the copy is copied with it.
    await client.query(`alter system set wal_keep_size = '1GB'`);
    await client.query('select pg_reload_conf()');
    await stack.engine.docker(['stop', broker!.Id]);
    await client.query(`select pg_backup_start('test', fast => true)`);
    const from = `${project}_database`;
    await overVolumes(
      stack,
      [from, copies.database],
      `cp -a /${from}/. /${copies.database}/; cd /${copies.database}/18/docker; rm -rf postmaster.pid pg_wal/*`,
    );
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
    const label = Buffer.from(rows[0]!.labelfile).toString('base64');
    await overVolumes(
      stack,
      [from, copies.database],
      `cp -a /${from}/18/docker/pg_wal/. /${copies.database}/18/docker/pg_wal/; cd /${copies.database}/18/docker; echo ${label} | base64 -d > backup_label; chown 999:999 backup_label`,
    );
    await overVolumes(
      stack,
      [`${project}_broker`, copies.broker],
      `cp -a /${project}_broker/. /${copies.broker}/`,
    );
  } finally {
    await stack.engine.docker(['start', broker!.Id]);
    await client.end();
  }
  return copies;
}

/** Fills the volumes of a stack that has not been started yet, and takes the copies away. */
export async function restoreBackup(
  stack: ComposeStack,
  copies: { database: string; broker: string },
): Promise<void> {
  const { project } = stack.options;
  for (const [volume, copy] of Object.entries(copies)) {
    const labels = [`com.docker.compose.project=${project}`, `com.docker.compose.volume=${volume}`];
    const target = `${project}_${volume}`;
    await stack.engine.docker(['volume', 'create', ...labels.flatMap((label) => ['--label', label]), target]);
    await overVolumes(stack, [copy, target], `cp -a /${copy}/. /${target}/`);
    await stack.engine.docker(['volume', 'rm', copy]);
  }
}
