/**
 * Breaks a fleet of its own while it is asked, and holds what was answered against what is stored:
 * `npm run chaos [-- --seed N] [--profile short|long] [--only TEXT]`. Ends with 0 when nothing was lost or doubled and every promise
 * holds, 1 when not, 2 when the run could not be made, 3 when something only took too long (a machine may be too busy for it).
 */
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit, checkPromises, Load, reckonAll, seededRandom, shuffled, TrialFleet } from '@perkway/trials';
import { faults, type Durations } from './faults.js';
import { tables, type Phase } from './table.js';

const MIB = 1024 ** 2;
const PROFILES: Record<string, Durations & { rounds: number; cards: number; streamBytes: number }> = {
  short: { rounds: 1, holdMs: 4_000, allBrokersAwayMs: 10_000, cards: 8_000, streamBytes: 48 * MIB },
  long: { rounds: 4, holdMs: 10_000, allBrokersAwayMs: 30_000, cards: 40_000, streamBytes: 160 * MIB },
};
/** Between two faults everything works. */
const CALM_MS = 1_500;
const ANSWERED_WITHIN_MS = 60_000;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

function readOptions() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      profile: { type: 'string', default: 'short' },
      only: { type: 'string' },
    },
  });
  const seed = values.seed === undefined ? Date.now() % 100_000 : Number(values.seed);
  const profile = PROFILES[values.profile];
  if (!Number.isInteger(seed) || !profile)
    throw new Error('use --seed <whole number> and --profile short or long');
  return { seed, profile, only: values.only ?? '' };
}

async function run({ seed, profile, only }: ReturnType<typeof readOptions>): Promise<number> {
  write(`chaos with --seed ${seed}`);
  const random = seededRandom(seed);
  const began = Date.now();
  const progress = (text: string) =>
    write(`${String(Math.round((Date.now() - began) / 1_000)).padStart(4)} s  ${text}`);
  const fleet = await TrialFleet.start({
    replicas: 2,
    streamBytes: profile.streamBytes,
    brokerBytes: 2 * profile.streamBytes,
    clockSetBackMs: 30_000 + Math.floor(random() * 90_000),
    progress,
  });
  const late: string[] = [];
  const problems: string[] = [];
  let isEnough = false;
  const interrupted = () => {
    progress('interrupted: what was done is looked at, and nothing more');
    isEnough = true;
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    progress('preparing the account');
    const load = new Load(fleet, seededRandom(seed + 1));
    await load.prepare(profile.cards);
    load.start();
    const phases: Phase[] = [];
    const phase = async (name: string, work: () => Promise<void>) => {
      if (isEnough) return;
      progress(name);
      load.phase = phases.length;
      const from = load.now;
      try {
        await work();
      } catch (error) {
        late.push(`${name}: ${(error as Error).message}`);
      }
      const silent = await load.untilAnswered(ANSWERED_WITHIN_MS);
      if (silent.length > 0) late.push(`after ${name} there is no answer: ${silent.join(', ')}`);
      phases.push({ name, from, to: load.now });
    };
    await phase('no fault', () => sleep(2 * CALM_MS));
    for (let round = 0; round < profile.rounds; round += 1)
      for (const fault of shuffled(faults(profile), random).filter(({ name }) => name.includes(only)))
        await phase(fault.name, async () => {
          await fault.run(fleet, random);
          await fleet.untilWell();
          await sleep(CALM_MS);
        });
    progress('waiting for the last answers');
    await load.stop();
    progress('comparing what was answered with what is stored');
    const reckoning = await reckonAll(fleet, load);
    const broken = await checkPromises(load);
    const audited = await audit(fleet);

    write(`\n${tables(phases, load.attempts, reckoning)}\n`);
    problems.push(...reckoning.examples, ...broken.slice(0, 20));
    for (const [what, times] of load.wrong) problems.push(`a wrong answer, ${times} times: ${what}`);
    if (!audited.passed) problems.push(`the audit failed:\n${audited.output}`);
    for (const problem of problems) write(`WRONG: ${problem}`);
    for (const problem of late) write(`TOO LATE: ${problem}`);
    const isWell = problems.length + late.length === 0;
    write(
      isWell
        ? `Nothing was lost, nothing was doubled, every promise holds, and the audit passed (seed ${seed}).`
        : `FAILED with seed ${seed}; the logs are in ${fleet.folder}.`,
    );
    if (isWell) return 0;
    return problems.length > 0 ? 1 : 3;
  } finally {
    await fleet.stop({ keep: problems.length + late.length > 0 });
  }
}

try {
  process.exitCode = await run(readOptions());
} catch (error) {
  process.stderr.write(`The run could not be made: ${(error as Error).stack}\n`);
  process.exitCode = 2;
}
// What still waits for a time limit keeps nobody.
process.exit();
