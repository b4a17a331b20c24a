/**
 * Measures how an attack, by tenant A or without a key, affects tenant B. To measure Perkway and not how attacker and
 * fleet compete for the processors of one machine, the attacker has the lowest priority but still exceeds every limit,
 * the fleet has CPU time to spare, and each attack runs once before it is measured. Needs an otherwise idle machine.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine, refuseUsage } from '@perkway/command-line';
import { setTimeout as sleep } from 'node:timers/promises';
import { APPS } from '@perkway/fleet';
import { Load, revocations, seededRandom, TestFleet, type Attempt } from '@perkway/test-fleet';
import { ATTACKS } from './attacks.js';
import type { Order } from './attacker.js';
import type { Outcome } from './hostile-client.js';
import { compare, type Comparison } from './latencies.js';
import { processorTime, shares, type ProcessorTime } from './processor-time.js';
import { analyticsTokenOf, makeTarget } from './target.js';

const USAGE = `npm run abuse -- [options]

Attacks a test fleet as tenant A, or without a key, while tenant B uses it. Exits with 0 if tenant B was not affected
and the limits held, 1 if not, 2 if the run failed.

  --rounds <number>   rounds per attack, up to three times as many if in doubt; default: 3
  --seconds <number>  length of a round; default: 6
  --only <text>       only attacks whose name contains it
  --json <file>       writes the results to the file
  --skip-latency      ignores latencies, which mean nothing on a busy machine
  --seed <number>     seed of the random numbers; default: 1`;

const MIB = 1024 ** 2;
/** Low enough to exceed by far on one machine that runs everything, and higher than tenant B's rate. */
const KEY_LIMIT = 10;
const FAILED_ATTEMPT_LIMIT = 60;
const VARIABLES = {
  RATE_LIMIT_PER_KEY: String(KEY_LIMIT),
  UNKNOWN_KEYS_PER_MINUTE: String(FAILED_ATTEMPT_LIMIT),
  UNKNOWN_LINKS_PER_MINUTE: String(FAILED_ATTEMPT_LIMIT),
  // No attack stops a server. Replication would only use the processor time that this measures.
  TRACKING_REPLICAS: '1',
};
/** Processors of the machine that the fleet leaves unused once it has started up. */
const SPARE_PROCESSORS = 0.5;
const START_UP_MS = 180_000;
/** Pause after each part, so that it does not affect the next one. */
const CALM_MS = 1_000;
/**
 * Fraction of the workload's normal rates, which use most of two processors. More would measure the queue for a
 * processor.
 */
const PACE = 0.33;
const CARDS = 20_000;
const REVOCATION = 'a key is revoked';
const MOST_MIB = 512;
/** Maximum ratio of tenant B's median latency with an attack to that without. */
const MOST_RATIO = 2;
/** Smaller differences are noise on a machine that runs everything. */
const NOISE_MS = 5;
/** An attack that seems to slow tenant B down gets up to this many times the rounds. */
const MOST_TIMES = 3;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

function readOptions() {
  const { values } = readCommandLine(USAGE, {
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '6' },
      only: { type: 'string', default: '' },
      json: { type: 'string' },
      'skip-latency': { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
    },
  });
  const [rounds, seconds, seed] = [values.rounds, values.seconds, values.seed].map(Number) as [
    number,
    number,
    number,
  ];
  if (![rounds, seconds, seed].every((each) => Number.isInteger(each) && each > 0))
    refuseUsage('--rounds, --seconds and --seed must be positive whole numbers');
  return {
    rounds,
    ms: seconds * 1_000,
    seed,
    only: values.only,
    json: values.json,
    judgesLatency: !values['skip-latency'],
  };
}

export interface Row {
  attack: string;
  responses: Record<string, number>;
  comparisons: Comparison[];
  /** CPU shares in the last round. */
  processors: Record<'alone' | 'attacked', ProcessorTime>;
  /** The app with the largest peak memory of a process since its start, and that memory. */
  largest: string;
  breaches: string[];
}

/** Returns the app with the largest peak memory of a process, in MiB. */
function largestOf(fleet: TestFleet): { app: string; mib: number } {
  const sizes = Object.values(fleet.replicas)
    .flat()
    .map(({ app, process: { pid } }) => ({
      app,
      mib: Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
    }));
  return sizes.sort((one, other) => other.mib - one.mib)[0]!;
}

/** Written so that NaN (nothing to compare) counts as slowed down. */
const isSlowed = ({ ratio, alone, attacked }: Comparison): boolean =>
  !(ratio <= MOST_RATIO || attacked.p50 - alone.p50 <= NOISE_MS);

/** Waits until each process has compiled its hot code and the fleet has stored what the preparation tracked. */
async function waitForSpareProcessors(fleet: TestFleet, progress: (text: string) => void): Promise<void> {
  progress('waiting until the fleet has started up');
  const end = Date.now() + START_UP_MS;
  for (let idle = 0; idle < SPARE_PROCESSORS;) {
    if (Date.now() > end)
      return progress(`still busy after ${START_UP_MS / 1_000} s, so latencies say little`);
    const [before, at] = [processorTime(fleet), Date.now()];
    await sleep(5 * CALM_MS);
    idle = shares(before, processorTime(fleet), Date.now() - at).idle!;
    progress(`${idle.toFixed(2)} processors idle`);
  }
}

function writeRow({ attack, responses, largest, processors, comparisons, breaches }: Row): void {
  const listed = (numbers: Record<string, number>, digits: number) =>
    Object.entries(numbers)
      .map(([name, number]) => `${name} ${number.toFixed(digits)}`)
      .join(', ');
  write(`\n${attack}: ${listed(responses, 0)}; largest process: ${largest}`);
  for (const [when, had] of Object.entries(processors)) write(`  processors ${when}: ${listed(had, 2)}`);
  for (const { operation, alone, attacked, ratio } of comparisons)
    write(
      `  ${operation.padEnd(11)} p50 ${alone.p50.toFixed(1).padStart(7)} -> ${attacked.p50.toFixed(1).padStart(7)} ms  x${ratio.toFixed(2)}   p99 ${alone.p99.toFixed(0).padStart(5)} -> ${attacked.p99.toFixed(0).padStart(5)} ms`,
    );
  for (const breach of breaches) write(`  breach: ${breach}`);
}

async function run({ rounds, ms, seed, only, json, judgesLatency }: ReturnType<typeof readOptions>) {
  const began = Date.now();
  const progress = (text: string) =>
    write(`${String(Math.round((Date.now() - began) / 1_000)).padStart(4)} s  ${text}`);
  const fleet = await TestFleet.start({
    replicas: 2,
    streamBytes: 256 * MIB,
    brokerBytes: 512 * MIB,
    clockSetBackMs: 0,
    neverFailsOver: true,
    // Commits do not wait for the standby, see TRACKING_REPLICAS.
    databaseSettings: { synchronous_commit: 'local' },
    progress,
    variables: Object.fromEntries(APPS.map((app) => [app, VARIABLES])),
  });
  const attacker = fork(join(import.meta.dirname, 'attacker.ts'), { execArgv: ['--import', 'tsx'] });
  let isFine = false;
  try {
    progress('preparing two tenants');
    const target = await makeTarget(fleet, { keyLimit: KEY_LIMIT, failedAttemptLimit: FAILED_ATTEMPT_LIMIT });
    const load = new Load(fleet, seededRandom(seed), PACE);
    await load.prepare(CARDS);
    load.start();
    await waitForSpareProcessors(fleet, progress);
    const part = async (work: () => Promise<unknown>) => {
      load.phase += 1;
      const { phase, now } = load;
      const before = processorTime(fleet);
      await work();
      const had = shares(before, processorTime(fleet), load.now - now);
      load.phase += 1;
      await sleep(CALM_MS);
      return { attempts: load.attempts.filter((attempt) => attempt.phase === phase), had };
    };
    const attack = async (name: string): Promise<Outcome> => {
      target.analyticsToken = await analyticsTokenOf(fleet, target.key);
      attacker.send({ attack: name, target, ms } satisfies Order);
      return ((await once(attacker, 'message')) as [Outcome])[0];
    };
    const rows: Row[] = [];
    for (const { name } of ATTACKS.filter((attack) => attack.name.includes(only))) {
      const pairs: [alone: Attempt[], attacked: Attempt[]][] = [];
      const row: Row = {
        attack: name,
        responses: {},
        comparisons: [],
        processors: { alone: {}, attacked: {} },
        largest: '',
        breaches: [],
      };
      load.wrongResponses.clear();
      const keep = (outcome: Outcome) => {
        for (const [what, times] of Object.entries(outcome.responses))
          row.responses[what] = (row.responses[what] ?? 0) + times;
        row.breaches.push(...outcome.breaches.filter((breach) => !row.breaches.includes(breach)));
      };
      // The latencies of the warm-up do not count, because each process first compiles the code that the attack uses.
      progress(`${name}, warm-up`);
      const first = await part(async () => keep(await attack(name)));
      const refusedFirst = first.attempts.reduce((sum, { refusals }) => sum + refusals, 0);
      if (refusedFirst > 0)
        row.breaches.push(`tenant B: ${refusedFirst} requests got 503 or no response during the warm-up`);
      const slowed = () => (judgesLatency ? compare(pairs).filter(isSlowed) : []);
      // Some operations have few requests in a round, so more rounds decide whether the attack slows them down.
      for (
        let round = 0;
        round < rounds || (round < MOST_TIMES * rounds && slowed().length > 0);
        round += 1
      ) {
        progress(`${name}, round ${round + 1}`);
        const alone = await part(() => sleep(ms));
        let outcome!: Outcome;
        const attacked = await part(async () => {
          outcome = await attack(name);
        });
        pairs.push([alone.attempts, attacked.attempts]);
        attacked.had.attacker = outcome.cpuMs! / ms;
        row.processors = { alone: alone.had, attacked: attacked.had };
        keep(outcome);
      }
      row.comparisons = compare(pairs);
      for (const [what, times] of load.wrongResponses) row.breaches.push(`tenant B, ${times} times: ${what}`);
      for (const { operation, refusals } of row.comparisons)
        if (refusals > 0)
          row.breaches.push(`tenant B, ${operation}: ${refusals} requests got 503 or no response`);
      for (const { operation, alone, attacked } of slowed())
        row.breaches.push(
          `tenant B, ${operation}: ${attacked.p50.toFixed(1)} ms instead of ${alone.p50.toFixed(1)} ms`,
        );
      const { app, mib } = largestOf(fleet);
      row.largest = `${app} ${mib.toFixed(0)} MiB`;
      if (mib > MOST_MIB) row.breaches.push(`${app} took ${mib.toFixed(0)} MiB`);
      rows.push(row);
      writeRow(row);
    }
    await load.stop();
    const revoked = REVOCATION.includes(only) ? await revocations(fleet, progress) : [];

    for (const { name, last } of revoked)
      write(
        `${name}: last accepted after ${Object.entries(last)
          .map(([app, at]) => `${app} ${at} ms`)
          .join(', ')}`,
      );
    const breaches = [
      ...rows.flatMap(({ attack, breaches: of }) => of.map((breach) => `${attack}: ${breach}`)),
      ...revoked.flatMap(({ name, breaches: of }) => of.map((breach) => `${name}: ${breach}`)),
    ];
    if (json) writeFileSync(json, JSON.stringify({ rows, revoked, breaches }, undefined, 2));
    for (const breach of breaches) write(`BREACH: ${breach}`);
    isFine = breaches.length === 0;
    write(
      isFine
        ? 'Tenant B was not affected, and every limit held.'
        : `FAILED; the logs are in ${fleet.folder}.`,
    );
    return isFine;
  } finally {
    attacker.disconnect();
    await fleet.stop({ keep: !isFine });
  }
}

try {
  process.exitCode = (await run(readOptions())) ? 0 : 1;
} catch (error) {
  process.stderr.write(`The run failed: ${(error as Error).stack}\n`);
  process.exitCode = 2;
}
// Exit without waiting for pending timers.
process.exit();
