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
import { auditNames, count, replay, show, verdict, write, type Profile } from './account.js';

const MIB = 1024 ** 2;
/** How long the standby is cut off before the primary dies. */
const CUT_OFF_MS = 1_000;
const ANSWERED_WITHIN_MS = 60_000;

/** A fleet under load whose Postgres dies. @returns the load that it was under */
async function failOver(
  fleet: TrialFleet,
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
  const silent = await load.untilAnswered(ANSWERED_WITHIN_MS);
  write(`every surface answered again after ${((Date.now() - diedAt.getTime()) / 1_000).toFixed(1)} s`);
  if (silent.length > 0) throw new Error(`there is no answer: ${silent.join(', ')}`);
  await postgres.rejoin();
  await sleep(stretchMs);
  await load.stop();
  return { load, diedAt };
}

/** With the standby in step: nothing that was answered may be missing. */
async function synchronous(fleet: TrialFleet, profile: Profile): Promise<boolean> {
  const { load } = await failOver(fleet, profile, true);
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
async function cutOff(fleet: TrialFleet, profile: Profile): Promise<boolean> {
  const { load, diedAt } = await failOver(fleet, profile, false);
  const look = async () => reckon(load.attempts, await readStored(fleet.database.admin, load.run));
  show('Postgres dies, and a standby that was cut off 1 s before takes over', await look());
  await replay(fleet, new Date(diedAt.getTime() - 60_000));
  show('The same, after a replay of the stream', await look());
  return auditNames(fleet, load);
}

/** @returns whether everything is as it should be */
export async function drillFailover(profile: Profile): Promise<boolean> {
  const fleet = await TrialFleet.start({
    replicas: profile.replicas,
    streamBytes: 64 * MIB,
    brokerBytes: 256 * MIB,
    clockSetBackMs: 0,
    progress: (text) => write(`  ${text}`),
  });
  try {
    // The second needs what the first leaves: a standby that follows.
    const holds = [await synchronous(fleet, profile), await cutOff(fleet, profile)];
    return holds.every(Boolean);
  } finally {
    await fleet.stop();
  }
}
