import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { ComposeStack } from './compose-stack.js';

const COPY_LIMIT_MS = 120_000;
/** The data folder in the volume of the database. */
const DATA = '18/docker';

export async function adminUrl(stack: ComposeStack): Promise<string> {
  const password = readFileSync(join(stack.options.secrets, 'database/POSTGRES_PASSWORD'), 'utf8').trim();
  return `postgres://postgres:${encodeURIComponent(password)}@${await stack.address('database')}:5432/perkway`;
}

/** Runs a shell script as root with volumes mounted at /<volume>. */
async function overVolumes(stack: ComposeStack, volumes: string[], script: string): Promise<void> {
  const mounts = volumes.flatMap((volume) => ['--volume', `${volume}:/${volume}`]);
  const args = ['run', '--rm', '--network', 'none', '--user', '0', '--entrypoint', 'sh', ...mounts];
  await stack.engine.docker([...args, 'postgres:18-bookworm', '-ec', script], { timeoutMs: COPY_LIMIT_MS });
}

/** Takes a base backup of a running stack's database. Returns the name of the volume with the copy. */
export async function backUpDatabase(stack: ComposeStack): Promise<string> {
  const [from, to] = [`${stack.options.project}_database`, `${stack.options.project}-backup-database`];
  const client = new pg.Client(await adminUrl(stack));
  await client.connect();
  try {
    // Keep the WAL written during the copy, which is copied last.
    await client.query(`alter system set wal_keep_size = '1GB'`);
    await client.query('select pg_reload_conf()');
    await client.query(`select pg_backup_start('test', fast => true)`);
    await overVolumes(
      stack,
      [from, to],
      // Files removed meanwhile do not matter: the WAL has the change.
      `cp -a /${from}/. /${to}/ || true; cd /${to}/${DATA}; rm -rf postmaster.pid pg_wal/*; test -s global/pg_control`,
    );
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
    const label = Buffer.from(rows[0]!.labelfile).toString('base64');
    await overVolumes(
      stack,
      [from, to],
      `cp -a /${from}/${DATA}/pg_wal/. /${to}/${DATA}/pg_wal/; cd /${to}/${DATA}; echo ${label} | base64 -d > backup_label; chown 999:999 backup_label`,
    );
  } finally {
    await client.end();
  }
  return to;
}

/** Stops the broker and copies its volume, which survives the loss of the database. */
export async function keepBroker(stack: ComposeStack): Promise<string> {
  const { project } = stack.options;
  const [broker] = await stack.containers('broker');
  await stack.engine.docker(['stop', broker!.Id]);
  const [from, to] = [`${project}_broker`, `${project}-kept-broker`];
  await overVolumes(stack, [from, to], `cp -a /${from}/. /${to}/`);
  return to;
}

/** Restores the volumes of a stack that has not started yet, and removes the copies. */
export async function restoreVolumes(
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

/** Runs `perkway replay` in the tools image as the broker's operator, and returns its output. */
export async function replay(stack: ComposeStack, from: Date): Promise<string> {
  const passwords = readFileSync(join(stack.options.secrets, 'broker/passwords.conf'), 'utf8');
  const [, password] = /^OPERATOR_PASSWORD: "(.*)"$/m.exec(passwords)!;
  return stack.compose([
    ...['run', '--rm', '--no-deps', '--env', `NATS_URL=nats://operator:${password}@broker:4222`],
    ...['provision', 'node', 'main.js', 'replay', '--from', from.toISOString()],
  ]);
}
