import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  audit,
  checkPromises,
  Load,
  reckon,
  reckonAll,
  readStored,
  ROOT,
  seededRandom,
  SURFACE_NAMES,
  TrialFleet,
  type Reckoning,
  type Sum,
} from '@perkway/trials';

const MIB = 1024 ** 2;
const BEFORE_MS = 10_000;
const AFTER_MS = 10_000;
/** How long the standby is cut off before the primary dies. */
const CUT_OFF_MS = 1_000;
const ANSWERED_WITHIN_MS = 60_000;
const CARDS = 3_000;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

const sumsOf = ({ sums }: Reckoning): [string, Sum][] => {
  const nothing: Sum = { attempted: 0, answered: 0, lost: 0, doubled: 0 };
  return SURFACE_NAMES.map((surface) => [surface, sums.get(0)?.get(surface) ?? nothing]);
};

function show(title: string, reckoning: Reckoning): void {
  write(`\n${title}`);
  write(
    `${''.padEnd(12)}${['answered', 'there', 'lost', 'doubled'].map((head) => head.padStart(10)).join('')}`,
  );
  for (const [surface, { answered, lost, doubled }] of sumsOf(reckoning))
    write(
      `${surface.padEnd(12)}${[answered, answered - lost, lost, doubled].map((n) => String(n).padStart(10)).join('')}`,
    );
}

const count = (reckoning: Reckoning, what: 'lost' | 'doubled'): number =>
  sumsOf(reckoning).reduce((sum, [, each]) => sum + each[what], 0);

async function replay(fleet: TrialFleet, from: Date): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'tools/perkway/src/replay.ts'), '--from', from.toISOString()],
    {
      cwd: ROOT,
      env: { ...process.env, NATS_URL: fleet.brokerUrl },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error('the replay failed');
}

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

const verdict = (holds: boolean, text: string): boolean => {
  write(`\n${holds ? 'Holds' : 'WRONG'}: ${text}`);
  return holds;
};

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
  const { links } = await readStored(fleet.database.admin, load.run);
  const rows = new Map([...links.values()].flat().map((link) => [link.id, link]));
  const missing = load.attempts.flatMap(({ surface, linkId, answeredAt }) => {
    if (!linkId || answeredAt === undefined) return [];
    const row = rows.get(linkId);
    const isMissing =
      !row || (surface === 'reveal' && !row.isRevealed) || (surface === 'cancel' && !row.isCancelled);
    return isMissing ? [linkId] : [];
  });
  const { passed, output } = await audit(fleet);
  write(`\n${output.trim()}`);
  const distinct = [...new Set(missing)];
  const unnamed = distinct.filter((id) => !output.includes(id));
  for (const id of unnamed) write(`not named: ${id}`);
  return verdict(
    unnamed.length === 0 && passed === (distinct.length === 0),
    `of ${distinct.length} links that were answered and forgotten, or whose reveal or cancellation was, the audit names ${distinct.length - unnamed.length}.`,
  );
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
