/**
 * Lets one tenant, or somebody without a key, attack a fleet of its own while another tenant uses it:
 * `npm run abuse [-- --rounds N] [--seconds N] [--only TEXT] [--json FILE] [--skip-latency] [--seed N]`. Ends with 0 when the other one noticed
 * nothing and the limits held, 1 when not, 2 when the run could not be made.
 *
 * What is compared is what Perkway makes of an attack, not what else shares two processors with it: whoever attacks yields to
 * everybody (an attacker has machines of its own) and is past every limit all the same, the fleet has processors to spare before it begins, and
 * an attack is made once before its rounds count. So it takes a machine that does nothing else.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { APPS } from '@perkway/fleet';
import { Load, revocations, seededRandom, TrialFleet, type Attempt } from '@perkway/trials';
import { ATTACKS } from './attacks.js';
import type { Order } from './attacker.js';
import type { Outcome } from './hostile-client.js';
import { compare, type Comparison } from './latencies.js';
import { processorTime, shares, type ProcessorTime } from './processor-time.js';
import { analyticsTokenOf, makeTarget } from './target.js';

const MIB = 1024 ** 2;
/** Small enough that a machine which does all of it at once can be far past it, and above what tenant B asks for. */
const KEY_LIMIT = 15;
const GUESS_LIMIT = 60;
const LIMITS = {
  RATE_LIMIT_PER_KEY: String(KEY_LIMIT),
  UNKNOWN_KEYS_PER_MINUTE: String(GUESS_LIMIT),
  UNKNOWN_LINKS_PER_MINUTE: String(GUESS_LIMIT),
};
/** Between two parts, so that one does not pay for the other. */
const CALM_MS = 1_000;
/**
 * Of the rates at which chaos uses a fleet. On two processors that takes most of them, and what was measured then would be the queue
 * for a processor that any other request makes longer.
 */
const PACE = 0.5;
const CARDS = 20_000;
const REVOCATION = 'a key is revoked';
const MOST_MIB = 512;
/** Of the answers to tenant B at the median, in an attack and alone. */
const MOST_RATIO = 2;
/** Below it a difference says nothing on a machine that does everything at once. */
const NOISE_MS = 5;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

function readOptions() {
  const { values } = parseArgs({
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
    throw new Error('use --rounds, --seconds and --seed with whole numbers');
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
  answers: Record<string, number>;
  comparisons: Comparison[];
  /** Of the last round. */
  processors: Record<'alone' | 'attacked', ProcessorTime>;
  /** The largest process of any app after it. */
  largest: string;
  breaches: string[];
}

/** The resident memory of the largest process, in MiB, and whose it is. */
function largestOf(fleet: TrialFleet): { app: string; mib: number } {
  const sizes = Object.values(fleet.replicas)
    .flat()
    .map(({ app, process: { pid } }) => ({
      app,
      mib: Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
    }));
  return sizes.sort((one, other) => other.mib - one.mib)[0]!;
}

function writeRow({ attack, answers, largest, processors, comparisons, breaches }: Row): void {
  const listed = (numbers: Record<string, number>, digits: number) =>
    Object.entries(numbers)
      .map(([name, number]) => `${name} ${number.toFixed(digits)}`)
      .join(', ');
  write(`\n${attack}: ${listed(answers, 0)}; largest process: ${largest}`);
  for (const [when, had] of Object.entries(processors)) write(`  processors ${when}: ${listed(had, 2)}`);
  for (const { surface, alone, attacked, ratio } of comparisons)
    write(
      `  ${surface.padEnd(11)} p50 ${alone.p50.toFixed(1).padStart(7)} -> ${attacked.p50.toFixed(1).padStart(7)} ms  x${ratio.toFixed(2)}   p99 ${alone.p99.toFixed(0).padStart(5)} -> ${attacked.p99.toFixed(0).padStart(5)} ms`,
    );
  for (const breach of breaches) write(`  breach: ${breach}`);
}

async function run({ rounds, ms, seed, only, json, judgesLatency }: ReturnType<typeof readOptions>) {
  const began = Date.now();
  const progress = (text: string) =>
    write(`${String(Math.round((Date.now() - began) / 1_000)).padStart(4)} s  ${text}`);
  const fleet = await TrialFleet.start({
    replicas: 2,
    streamBytes: 256 * MIB,
    brokerBytes: 512 * MIB,
    clockSetBackMs: 0,
    neverFailsOver: true,
    progress,
    variables: Object.fromEntries(APPS.map((app) => [app, LIMITS])),
  });
  const attacker = fork(join(import.meta.dirname, 'attacker.ts'), { execArgv: ['--import', 'tsx'] });
  let isFine = false;
  try {
    progress('preparing two tenants');
    const target = await makeTarget(fleet, { keyLimit: KEY_LIMIT, guessLimit: GUESS_LIMIT });
    const load = new Load(fleet, seededRandom(seed), PACE);
    await load.prepare(CARDS);
    load.start();
    // Until every process has compiled what it does often.
    await sleep(5 * CALM_MS);
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
        answers: {},
        comparisons: [],
        processors: { alone: {}, attacked: {} },
        largest: '',
        breaches: [],
      };
      load.wrong.clear();
      const keep = (outcome: Outcome) => {
        for (const [what, times] of Object.entries(outcome.answers))
          row.answers[what] = (row.answers[what] ?? 0) + times;
        row.breaches.push(...outcome.breaches.filter((breach) => !row.breaches.includes(breach)));
      };
      // Times do not count yet: what it takes to compile what nobody asked for before, a process pays once and not in each attack.
      progress(`${name}, for the first time`);
      const first = await part(async () => keep(await attack(name)));
      const refusedFirst = first.attempts.reduce((sum, { refusals }) => sum + refusals, 0);
      if (refusedFirst > 0)
        row.breaches.push(`tenant B: ${refusedFirst} were answered 503 or not at all the first time`);
      for (let round = 0; round < rounds; round += 1) {
        progress(`${name}, ${round + 1} of ${rounds}`);
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
      for (const [what, times] of load.wrong) row.breaches.push(`tenant B, ${times} times: ${what}`);
      for (const { surface, refusals, alone, attacked, ratio } of row.comparisons) {
        if (refusals > 0)
          row.breaches.push(`tenant B, ${surface}: ${refusals} were answered 503 or not at all`);
        // Also where there is nothing to compare with.
        if (judgesLatency && !(ratio <= MOST_RATIO || attacked.p50 - alone.p50 <= NOISE_MS))
          row.breaches.push(
            `tenant B, ${surface}: ${attacked.p50.toFixed(1)} ms instead of ${alone.p50.toFixed(1)} ms`,
          );
      }
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
        ? 'The other tenant noticed nothing, and every limit held.'
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
  process.stderr.write(`The run could not be made: ${(error as Error).stack}\n`);
  process.exitCode = 2;
}
// What still waits for a time limit keeps nobody.
process.exit();
