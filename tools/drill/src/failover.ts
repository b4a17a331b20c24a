import { setTimeout as sleep } from 'node:timers/promises';
import {
  audit,
  checkPromises,
  Load,
  readStored,
  reckon,
  reckonAll,
  seededRandom,
  TrialFleet,
} from '@perkway/trials';
import { auditNames, count, replay, show, verdict, write } from './account.js';

const MIB = 1024 ** 2;
const BEFORE_MS = 10_000;
const AFTER_MS = 10_000;
/** How long the standby is cut off before the primary dies. */
const CUT_OFF_MS = 1_000;
const ANSWERED_WITHIN_MS = 60_000;
const CARDS = 3_000;

/** A fleet under load whose Postgres dies. @returns the load that it was under */
async function failOver(fleet: TrialFleet, isSynchronous: boolean): Promise<{ load: Load; diedAt: Date }> {
  const load = new Load(fleet, seededRandom(1));
  await load.prepare(CARDS);
  load.start();
  await sleep(BEFORE_MS);
  const { postgres } = fleet;
  if (!isSynchronous) {
    await postgres.cutOffStandby();
    await sleep(CUT_OFF_MS);
  }
  const diedAt = new Date();
  await postgres.primary.kill();
  await postgres.failOver();
  write(`the standby took over after ${((Date.now() - diedAt.getTime()) / 1_000).toFixed(1)} s`);
  const silent = await load.untilAnswered(ANSWERED_WITHIN_MS);
  write(`every surface answered again after ${((Date.now() - diedAt.getTime()) / 1_000).toFixed(1)} s`);
  if (silent.length > 0) throw new Error(`there is no answer: ${silent.join(', ')}`);
  await postgres.rejoin();
  await sleep(AFTER_MS);
  await load.stop();
  return { load, diedAt };
}

/** With the standby in step: nothing that was answered may be missing. */
async function synchronous(fleet: TrialFleet): Promise<boolean> {
  const { load } = await failOver(fleet, true);
  const reckoning = await reckonAll(fleet, load);
  show('Postgres dies, and a synchronous standby takes over', reckoning);
  const broken = await checkPromises(load);
  const { passed, output } = await audit(fleet);
  for (const line of [...reckoning.examples, ...broken, ...(passed ? [] : [output])]) write(line);
  const holds = count(reckoning, 'lost') + count(reckoning, 'doubled') + broken.length === 0 && passed;
  return verdict(
    holds,
    'with a synchronous standby nothing that was answered is missing, and the audit passes.',
  );
}

/** With the standby behind: what is missing is counted again by a replay where it is an event, and named where it is a card. */
async function cutOff(fleet: TrialFleet): Promise<boolean> {
  const { load, diedAt } = await failOver(fleet, false);
  await sleep(5_000);
  const look = async () => reckon(load.attempts, await readStored(fleet.database.admin, load.run));
  show('Postgres dies, and a standby that was cut off 1 s before takes over', await look());
  await replay(fleet, new Date(diedAt.getTime() - 60_000));
  const after = await reckonAll(fleet, load, 20_000);
  show('The same, after a replay of the stream', after);
  return auditNames(fleet, load);
}

/** @returns whether everything is as it should be */
export async function drillFailover(): Promise<boolean> {
  const fleet = await TrialFleet.start({
    replicas: 2,
    streamBytes: 64 * MIB,
    brokerBytes: 256 * MIB,
    clockSetBackMs: 0,
    progress: (text) => write(`  ${text}`),
  });
  try {
    // The second needs what the first leaves: a standby that follows.
    const holds = [await synchronous(fleet), await cutOff(fleet)];
    return holds.every(Boolean);
  } finally {
    await fleet.stop();
  }
}
