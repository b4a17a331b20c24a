import { setTimeout as sleep } from 'node:timers/promises';
import {
  auditFleet,
  checkPromises,
  Load,
  readStored,
  reconcile,
  reconcileAll,
  seededRandom,
  TestFleet,
} from '@perkway/test-fleet';
import { auditNames, count, replay, show, verdict, write, type Profile } from './account.js';

const MIB = 1024 ** 2;
/** How long the standby is cut off before the primary dies. */
const CUT_OFF_MS = 1_000;
const RESPONSE_LIMIT_MS = 60_000;

/** Kills the primary of a fleet under load and fails over. @returns the workload and when the primary died */
async function failOver(
  fleet: TestFleet,
  { cards, stretchMs }: Profile,
  isSynchronous: boolean,
): Promise<{ load: Load; diedAt: Date }> {
  const load = new Load(fleet, seededRandom(1));
  await load.prepare(cards);
  load.start();
  await sleep(stretchMs);
  const { postgres } = fleet;
  if (!isSynchronous) {
    await postgres.cutOffStandby();
    await sleep(CUT_OFF_MS);
  }
  const diedAt = new Date();
  await postgres.primary.kill();
  await postgres.failOver();
  write(`the standby took over after ${((Date.now() - diedAt.getTime()) / 1_000).toFixed(1)} s`);
  const silent = await load.untilAcknowledged(RESPONSE_LIMIT_MS);
  write(`every operation worked again after ${((Date.now() - diedAt.getTime()) / 1_000).toFixed(1)} s`);
  if (silent.length > 0) throw new Error(`no response: ${silent.join(', ')}`);
  await postgres.rejoin();
  await sleep(stretchMs);
  await load.stop();
  return { load, diedAt };
}

/** With a synchronous standby nothing acknowledged may be missing. */
async function synchronous(fleet: TestFleet, profile: Profile): Promise<boolean> {
  const { load } = await failOver(fleet, profile, true);
  const reconciliation = await reconcileAll(fleet, load);
  show('Postgres dies, and a synchronous standby takes over', reconciliation);
  const broken = await checkPromises(load);
  const { passed, output } = await auditFleet(fleet);
  for (const line of [...reconciliation.examples, ...broken, ...(passed ? [] : [output])]) write(line);
  const holds =
    count(reconciliation, 'lost') + count(reconciliation, 'duplicated') + broken.length === 0 && passed;
  return verdict(holds, 'with a synchronous standby nothing acknowledged is missing, and the audit passes.');
}

/** With a standby that is behind, a replay restores missing events, and the audit names missing links. */
async function cutOff(fleet: TestFleet, profile: Profile): Promise<boolean> {
  const { load, diedAt } = await failOver(fleet, profile, false);
  const look = async () => reconcile(load.attempts, await readStored(fleet.database.admin, load.run));
  show('Postgres dies, and a standby that was cut off 1 s earlier takes over', await look());
  await replay(fleet, new Date(diedAt.getTime() - 60_000));
  show('The same, after a replay of the stream', await look());
  return auditNames(fleet, load);
}

/** @returns whether all expectations hold */
export async function drillFailover(profile: Profile): Promise<boolean> {
  const fleet = await TestFleet.start({
    replicas: profile.replicas,
    streamBytes: 64 * MIB,
    brokerBytes: 256 * MIB,
    clockSetBackMs: 0,
    progress: (text) => write(`  ${text}`),
  });
  try {
    // The second drill needs the synchronous standby that the first one leaves.
    const holds = [await synchronous(fleet, profile), await cutOff(fleet, profile)];
    return holds.every(Boolean);
  } finally {
    await fleet.stop();
  }
}
