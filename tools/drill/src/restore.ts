import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { REPLICATING, startPostgres, takeBaseBackup, type LocalServer } from '@perkway/local-servers';
import {
  audit,
  checkPromises,
  Load,
  readStored,
  reckon,
  reckonAll,
  seededRandom,
  type Surface,
  TrialFleet,
} from '@perkway/trials';
import { auditNames, count, replay, show, verdict, write, type Profile } from './account.js';

const copy = promisify(execFile);

const MIB = 1024 ** 2;
const ANSWERED_WITHIN_MS = 60_000;
const REPLAY_BEFORE_MS = 60_000;
/** No fewer than the cluster had that the log is of. */
const CONNECTIONS = '400';

interface Backup {
  /** The copy of the cluster. */
  base: string;
  /** Its log, segment by segment. */
  archive: string;
  takenAt: Date;
}

/** Each segment of the log goes to the archive when it is full. */
const archiving = (archive: string): Record<string, string> => ({
  archive_mode: 'on',
  archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
});

/** Apps, database and brokers at once. */
async function killAll({ replicas, postgres, brokers }: TrialFleet): Promise<void> {
  const servers = [postgres.primary, postgres.standby, ...brokers.servers.values()];
  for (const replica of Object.values(replicas).flat()) replica.signal('SIGKILL');
  await Promise.all(servers.map((server) => server.kill()));
}

/** A new cluster from the copy and the log, to the end of that or up to a moment, where the dead primary was. */
async function restore(
  fleet: TrialFleet,
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
      // It is alone: no commit may wait for a standby.
      synchronous_standby_names: '',
      restore_command: `cp ${archive}/%f %p`,
      recovery_target_action: 'promote',
      // Postgres knows no `Z` here.
      ...(until ? { recovery_target_time: until.toISOString().replace('Z', '+00') } : {}),
    },
  });
}

/** Brokers with what their disks kept, then the apps. */
async function startAgain(fleet: TrialFleet): Promise<void> {
  await Promise.all([...fleet.brokers.servers.values()].map((server) => server.start()));
  const replicas = Object.values(fleet.replicas).flat();
  await Promise.all(replicas.map((replica) => fleet.restart(replica)));
}

/** @returns whether everything is as it should be */
export async function drillRestore(profile: Profile): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'perkway-archive-'));
  const archive = join(folder, 'log');
  try {
    // Postgres has a user of its own where this runs as root.
    await copy('mkdir', [archive]);
    for (const each of [folder, archive]) await chmod(each, 0o777);
    const fleet = await TrialFleet.start({
      replicas: 1,
      streamBytes: 64 * MIB,
      brokerBytes: 256 * MIB,
      clockSetBackMs: 0,
      databaseSettings: archiving(archive),
      progress: (text) => write(`  ${text}`),
    });
    try {
      return await play(fleet, archive, profile);
    } finally {
      await fleet.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function play(fleet: TrialFleet, archive: string, { cards, stretchMs }: Profile): Promise<boolean> {
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
  // What was not archived yet: in production it is on the standby, or on the disk of the primary.
  await copy('sh', ['-c', `cp -n ${primary}/pg_wal/0* ${archive}/ && chmod a+r ${archive}/*`]);

  let restored = await restore(fleet, backup, 'restored');
  try {
    await startAgain(fleet);
    const silent = await load.untilAnswered(ANSWERED_WITHIN_MS);
    if (silent.length > 0) throw new Error(`there is no answer: ${silent.join(', ')}`);
    await load.stop();
    await replay(fleet, new Date(backup.takenAt.getTime() - REPLAY_BEFORE_MS));
    const whole = await reckonAll(fleet, load);
    show('Restored with the log to its end, and a replay of the stream', whole);
    const broken = await checkPromises(load);
    const { passed, output } = await audit(fleet);
    for (const line of [...whole.examples, ...broken, ...(passed ? [] : [output])]) write(line);
    const isWhole = verdict(
      count(whole, 'lost') + count(whole, 'doubled') + broken.length === 0 && passed,
      'every answered id is there once, and the audit passes.',
    );

    await killAll(fleet);
    await restored.kill();
    restored = await restore(fleet, backup, 'earlier', moment);
    await startAgain(fleet);
    const look = async () => reckon(load.attempts, await readStored(fleet.database.admin, load.run));
    show(`Restored to an earlier moment, ${stretchMs / 1_000} s before the end`, await look());
    await replay(fleet, new Date(moment.getTime() - REPLAY_BEFORE_MS));
    const earlier = await look();
    show('The same, after a replay of the stream', earlier);
    const isCounted = verdict(
      ['read', 'click', 'pixel', 'outreach', 'conversion'].every((surface) => {
        const sum = earlier.sums.get(0)?.get(surface as Surface);
        return sum !== undefined && sum.answered > 0 && sum.lost + sum.doubled === 0;
      }),
      'events that were answered after that moment are counted once again.',
    );
    return (await auditNames(fleet, load)) && isWhole && isCounted;
  } finally {
    await restored.kill();
  }
}
