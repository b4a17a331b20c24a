import { setTimeout as sleep } from 'node:timers/promises';
import { LoadGenerator } from './children.js';
import type { Load } from './load-generator.js';
import { cpuSeconds, machineTicks } from './process-usage.js';

/** One candidate of a comparison. */
export interface Contender {
  name: string;
  load: Omit<Load, 'seconds' | 'requests'>;
  /** The server's process, for its CPU time per request. */
  pid: number;
  /** The contender to compare with, and the minimum ratios by requests per second and by CPU time of the server. */
  against?: { name: string; target: number; cpuTarget?: number };
}

export interface CompareOptions {
  rounds?: number;
  /** Seconds per contender and round. */
  seconds?: number;
}

interface Sample {
  rate: number;
  cpuMicros: number;
  p99: number;
  generatorCpu: number;
}

export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** The share of the machine's CPU that other processes may use. Above it, ratios mean too little for a verdict. */
const MAX_OTHER_LOAD = 0.2;

const cell = (text: string | number, width: number): string => String(text).padStart(width);
const write = (line: string): void => void process.stdout.write(`${line}\n`);

export class TooBusy extends Error {}

/**
 * Measures all contenders in alternating rounds, so that other load on the machine affects all of them, and prints the
 * medians. A ratio is the median of the ratios within each round.
 * @returns the number of missed targets
 * @throws TooBusy after the report, if other processes used too much of the machine
 */
export async function compare(contenders: Contender[], options: CompareOptions = {}): Promise<number> {
  const rounds = Number(process.env.BENCH_ROUNDS ?? options.rounds ?? 9);
  const seconds = Number(process.env.BENCH_SECONDS ?? options.seconds ?? 2);
  const generator = new LoadGenerator();
  const samples = new Map<string, Sample[]>(contenders.map(({ name }) => [name, []]));
  const others = { busy: 0, total: 0 };
  // Between two contenders only other processes are busy. Also keeps pending events of one from affecting the next.
  const pause = async () => {
    const before = machineTicks();
    await sleep(200);
    const after = machineTicks();
    if (!before || !after) return;
    others.busy += after.busy - before.busy;
    others.total += after.total - before.total;
  };
  const measure = async ({ name, load, pid }: Contender, duration: number): Promise<Sample> => {
    const cpuBefore = cpuSeconds(pid);
    const result = await generator.run({ ...load, seconds: duration });
    const cpuAfter = cpuSeconds(pid);
    if (Object.keys(result.unexpected).length > 0 || result.errors > 0)
      throw new Error(
        `${name}: ${result.errors} errors, unexpected responses ${JSON.stringify(result.unexpected)}`,
      );
    const cpu = cpuBefore === undefined || cpuAfter === undefined ? NaN : cpuAfter - cpuBefore;
    return {
      rate: result.requests / result.seconds,
      cpuMicros: (cpu / result.requests) * 1e6,
      p99: result.p99,
      generatorCpu: result.generatorCpu,
    };
  };
  try {
    for (const contender of contenders) await measure(contender, Math.min(seconds, 2));
    for (let round = 1; round <= rounds; round += 1)
      for (const contender of contenders) {
        samples.get(contender.name)!.push(await measure(contender, seconds));
        await pause();
      }
  } finally {
    generator.stop();
  }
  return report(contenders, samples, rounds, others.total > 0 ? others.busy / others.total : 0);
}

function report(
  contenders: Contender[],
  samples: Map<string, Sample[]>,
  rounds: number,
  otherLoad: number,
): number {
  const width = Math.max(...contenders.map(({ name }) => name.length));
  const of = (name: string, read: (sample: Sample) => number) => median(samples.get(name)!.map(read));
  write(
    `${'median of ' + rounds + ' rounds'}`.padEnd(width) +
      '   requests/s   CPU us/request   p99 ms   generator',
  );
  for (const { name } of contenders)
    write(
      name.padEnd(width) +
        cell(Math.round(of(name, (sample) => sample.rate)), 13) +
        cell(of(name, (sample) => sample.cpuMicros).toFixed(1), 17) +
        cell(of(name, (sample) => sample.p99).toFixed(1), 9) +
        cell(`${Math.round(of(name, (sample) => sample.generatorCpu) * 100)} %`, 12),
    );
  let missed = 0;
  for (const { name, against } of contenders) {
    if (!against) continue;
    const reference = samples.get(against.name)!;
    const ratios = (read: (sample: Sample) => number) =>
      samples.get(name)!.map((sample, round) => read(sample) / read(reference[round]!));
    const rate = median(ratios(({ rate }) => rate));
    const cpu = 1 / median(ratios(({ cpuMicros }) => cpuMicros));
    const { target, cpuTarget } = against;
    // Without /proc there is no CPU time.
    const holds = rate >= target && (cpuTarget === undefined || Number.isNaN(cpu) || cpu >= cpuTarget);
    if (!holds) missed += 1;
    const verdict = otherLoad > MAX_OTHER_LOAD ? 'too busy to judge' : holds ? 'held' : 'MISSED';
    write(
      `${name} / ${against.name}: ${rate.toFixed(2)} by requests/s, target ${target.toFixed(2)}; ` +
        `${cpu.toFixed(2)} by CPU${cpuTarget === undefined ? '' : `, target ${cpuTarget.toFixed(2)}`}: ${verdict}`,
    );
    if (of(against.name, ({ generatorCpu }) => generatorCpu) > 0.95)
      write(
        `  the load generator was saturated with ${against.name}: the ratio by server CPU is more accurate`,
      );
  }
  write(`other processes used ${Math.round(otherLoad * 100)} % of the machine`);
  if (otherLoad > MAX_OTHER_LOAD) throw new TooBusy();
  return missed;
}
