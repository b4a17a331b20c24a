import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { REPLICATING, startPostgres, takeBaseBackup, type LocalServer } from '@perkway/local-servers';
import {
  auditFleet,
  checkPromises,
  Load,
  readStored,
  reconcile,
  reconcileAll,
  seededRandom,
  type Operation,
  TestFleet,
} from '@perkway/test-fleet';
import { auditNames, count, replay, show, verdict, write, type Profile } from './account.js';

const copy = promisify(execFile);

const MIB = 1024 ** 2;
const RESPONSE_LIMIT_MS = 60_000;
const REPLAY_BEFORE_MS = 60_000;
/** At least as many as the original cluster had; Postgres requires it. */
const CONNECTIONS = '400';

interface Backup {
  /** The copied data folder. */
  base: string;
  /** The folder with the archived WAL segments. */
  archive: string;
  takenAt: Date;
}

/** Settings that archive each full WAL segment. */
const archiving = (archive: string): Record<string, string> => ({
  archive_mode: 'on',
  archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
});

/** Kills apps, databases and brokers at once. */
async function killAll({ replicas, postgres, brokers }: TestFleet): Promise<void> {
  const servers = [postgres.primary, postgres.standby, ...brokers.servers.values()];
  for (const replica of Object.values(replicas).flat()) replica.signal('SIGKILL');
  await Promise.all(servers.map((server) => server.kill()));
}

/** Restores a cluster at the old primary's port from the backup and the WAL, to its end or to a point in time. */
async function restore(
  fleet: TestFleet,
  { base, archive }: Backup,
  name: string,
  until?: Date,
): Promise<LocalServer> {
  const dataDir = join(fleet.folder, 'postgres', name);
  await copy('cp', ['-a', base, dataDir]);
  await writeFile(join(dataDir, 'recovery.signal'), '');
  return startPostgres({
    port: fleet.postgres.primary.port,
    dataDir,
    superuserPassword: fleet.secrets.superuserPassword,
    durable: false,
    dieWithParent: true,
    logFile: join(fleet.folder, 'postgres', `${name}.log`),
    settings: {
      ...REPLICATING,
      max_connections: CONNECTIONS,
      // There is no standby to wait for.
      synchronous_standby_names: '',
      restore_command: `cp ${archive}/%f %p`,
      recovery_target_action: 'promote',
      // Postgres does not accept `Z` here.
      ...(until ? { recovery_target_time: until.toISOString().replace('Z', '+00') } : {}),
    },
  });
}

/** Starts the brokers with the data on their disks, then the apps. */
async function startAgain(fleet: TestFleet): Promise<void> {
  await Promise.all([...fleet.brokers.servers.values()].map((server) => server.start()));
  const replicas = Object.values(fleet.replicas).flat();
  await Promise.all(replicas.map((replica) => fleet.restart(replica)));
}

/** @returns whether all expectations hold */
export async function drillRestore(profile: Profile): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'perkway-archive-'));
  const archive = join(folder, 'log');
  try {
    // If this runs as root, Postgres runs as another user, who must be able to write here.
    await copy('mkdir', [archive]);
    for (const each of [folder, archive]) await chmod(each, 0o777);
    const fleet = await TestFleet.start({
      replicas: 1,
      streamBytes: 64 * MIB,
      brokerBytes: 256 * MIB,
      clockSetBackMs: 0,
      databaseSettings: archiving(archive),
      progress: (text) => write(`  ${text}`),
    });
    try {
      return await runDrill(fleet, archive, profile);
    } finally {
      await fleet.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runDrill(fleet: TestFleet, archive: string, { cards, stretchMs }: Profile): Promise<boolean> {
  const load = new Load(fleet, seededRandom(1));
  await load.prepare(cards);
  load.start();
  await sleep(stretchMs);
  const backup: Backup = { base: join(fleet.folder, 'postgres', 'base'), archive, takenAt: new Date() };
  const primary = join(fleet.folder, 'postgres', 'first');
  await takeBaseBackup({ url: fleet.postgres.primary.url, from: primary, to: backup.base });
  write('a base backup was taken under load');
  await sleep(stretchMs);
  const moment = new Date();
  await sleep(stretchMs);
  await killAll(fleet);
  write('everything was killed under load');
  // WAL that was not archived yet. In production it is on the standby or on the primary's disk.
  await copy('sh', ['-c', `cp -n ${primary}/pg_wal/0* ${archive}/ && chmod a+r ${archive}/*`]);

  let restored = await restore(fleet, backup, 'restored');
  try {
    await startAgain(fleet);
    const silent = await load.untilAcknowledged(RESPONSE_LIMIT_MS);
    if (silent.length > 0) throw new Error(`no response: ${silent.join(', ')}`);
    await load.stop();
    await replay(fleet, new Date(backup.takenAt.getTime() - REPLAY_BEFORE_MS));
    const whole = await reconcileAll(fleet, load);
    show('Restored to the end of the WAL, with a replay of the stream', whole);
    const broken = await checkPromises(load);
    const { passed, output } = await auditFleet(fleet);
    for (const line of [...whole.examples, ...broken, ...(passed ? [] : [output])]) write(line);
    const isWhole = verdict(
      count(whole, 'lost') + count(whole, 'duplicated') + broken.length === 0 && passed,
      'every acknowledged id is stored once, and the audit passes.',
    );

    await killAll(fleet);
    await restored.kill();
    restored = await restore(fleet, backup, 'earlier', moment);
    await startAgain(fleet);
    const look = async () => reconcile(load.attempts, await readStored(fleet.database.admin, load.run));
    show(`Restored to a point ${stretchMs / 1_000} s before the end`, await look());
    await replay(fleet, new Date(moment.getTime() - REPLAY_BEFORE_MS));
    const earlier = await look();
    show('The same, after a replay of the stream', earlier);
    const isCounted = verdict(
      ['read', 'click', 'pixel', 'outreach', 'conversion'].every((operation) => {
        const sum = earlier.sums.get(0)?.get(operation as Operation);
        return sum !== undefined && sum.acknowledged > 0 && sum.lost + sum.duplicated === 0;
      }),
      'the replay restores the events that were acknowledged after that point.',
    );
    return (await auditNames(fleet, load)) && isWhole && isCounted;
  } finally {
    await restored.kill();
  }
}
