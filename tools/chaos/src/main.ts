import { readCommandLine, refuseUsage } from '@perkway/command-line';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  auditFleet,
  checkPromises,
  LateError,
  Load,
  reconcileAll,
  seededRandom,
  shuffled,
  TestFleet,
} from '@perkway/test-fleet';
import { faults, type Durations } from './faults.js';
import { tables, type Phase } from './table.js';
import { Webhooks } from './webhooks.js';

const USAGE = `npm run chaos -- [--seed <number>] [--profile short|long] [--only <text>]

Injects faults into a test fleet under load, then compares acknowledged requests with stored rows, the event feed and the
deliveries to webhooks. Exits with 0 if nothing was lost or duplicated and every link and session still works, 1 if not, 2 if
the run failed, 3 if the only problem is that something took too long, as on a busy machine.

  --seed <number>       seed of the random numbers; default: random
  --profile short|long  default: short; long runs each fault four times, and for longer
  --only <text>         only faults whose name contains it`;

const MIB = 1024 ** 2;
const PROFILES: Record<string, Durations & { rounds: number; cards: number; streamBytes: number }> = {
  short: { rounds: 1, holdMs: 4_000, allBrokersAwayMs: 10_000, cards: 8_000, streamBytes: 48 * MIB },
  long: { rounds: 4, holdMs: 10_000, allBrokersAwayMs: 30_000, cards: 40_000, streamBytes: 160 * MIB },
};
/** Pause between two faults. */
const PAUSE_MS = 1_500;
const RESPONSE_LIMIT_MS = 60_000;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

function readOptions() {
  const { values } = readCommandLine(USAGE, {
    options: {
      seed: { type: 'string' },
      profile: { type: 'string', default: 'short' },
      only: { type: 'string' },
    },
  });
  const seed = values.seed === undefined ? Date.now() % 100_000 : Number(values.seed);
  const profile = PROFILES[values.profile];
  if (!Number.isInteger(seed) || !profile)
    return refuseUsage('--seed must be a whole number, and --profile short or long');
  return { seed, profile, only: values.only ?? '' };
}

async function run({ seed, profile, only }: ReturnType<typeof readOptions>): Promise<number> {
  write(`chaos with --seed ${seed}`);
  const random = seededRandom(seed);
  const began = Date.now();
  const progress = (text: string) =>
    write(`${String(Math.round((Date.now() - began) / 1_000)).padStart(4)} s  ${text}`);
  const fleet = await TestFleet.start({
    replicas: 2,
    streamBytes: profile.streamBytes,
    brokerBytes: 2 * profile.streamBytes,
    clockSetBackMs: 30_000 + Math.floor(random() * 90_000),
    progress,
  });
  const late: string[] = [];
  const problems: string[] = [];
  let webhooks: Webhooks | undefined;
  let isEnough = false;
  const interrupted = () => {
    progress('interrupted: checking what was done so far');
    isEnough = true;
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    progress('preparing the account');
    const load = new Load(fleet, seededRandom(seed + 1));
    await load.prepare(profile.cards);
    webhooks = await Webhooks.listen(fleet, load, seededRandom(seed + 2));
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
      const silent = await load.untilAcknowledged(RESPONSE_LIMIT_MS);
      if (silent.length > 0) late.push(`no response after ${name}: ${silent.join(', ')}`);
      phases.push({ name, from, to: load.now });
    };
    await phase('no fault', () => sleep(2 * PAUSE_MS));
    for (let round = 0; round < profile.rounds; round += 1)
      for (const fault of shuffled(faults(profile), random).filter(({ name }) => name.includes(only)))
        await phase(fault.name, async () => {
          await fault.run(fleet, random);
          await fleet.untilAllReady();
          await sleep(PAUSE_MS);
        });
    progress('waiting for the last responses');
    await load.stop();
    progress('comparing acknowledged requests with stored rows');
    const reconciliation = await reconcileAll(fleet, load);
    const broken = await checkPromises(load);
    progress('comparing the feed and the deliveries to webhooks');
    const undelivered = await webhooks.check();
    const audited = await auditFleet(fleet);

    write(`\n${tables(phases, load.attempts, reconciliation)}\n`);
    problems.push(...reconciliation.examples, ...broken.slice(0, 20), ...undelivered.slice(0, 20));
    for (const [what, times] of load.wrongResponses) problems.push(`wrong response, ${times} times: ${what}`);
    if (!audited.passed) problems.push(`the audit failed:\n${audited.output}`);
    for (const problem of problems) write(`WRONG: ${problem}`);
    for (const problem of late) write(`TOO SLOW: ${problem}`);
    const isWell = problems.length + late.length === 0;
    write(
      isWell
        ? `Nothing was lost or duplicated, every link and session still works, and the audit passed (seed ${seed}).`
        : `FAILED with seed ${seed}; the logs are in ${fleet.folder}.`,
    );
    if (isWell) return 0;
    return problems.length > 0 ? 1 : 3;
  } finally {
    webhooks?.close();
    await fleet.stop({ keep: problems.length + late.length > 0 });
  }
}

try {
  process.exitCode = await run(readOptions());
} catch (error) {
  process.stderr.write(`The run failed: ${(error as Error).stack}\n`);
  process.exitCode = error instanceof LateError ? 3 : 2;
}
// Exit without waiting for pending timers.
process.exit();
