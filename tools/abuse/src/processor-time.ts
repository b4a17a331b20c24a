import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { TrialFleet } from '@perkway/trials';

/** Linux counts hundredths of a second there. */
const MS_PER_TICK = 10;

/** Milliseconds of processors that each app has had, all processes of it, and `idle`: that nobody had. */
export type ProcessorTime = Record<string, number>;

export function processorTime(fleet: TrialFleet): ProcessorTime {
  const times: ProcessorTime = {};
  for (const { app, process } of Object.values(fleet.replicas).flat()) {
    // `pid (name) state ...`: the name may hold anything.
    const fields = readFileSync(`/proc/${process.pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    times[app] = (times[app] ?? 0) + (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  }
  times.idle = cpus().reduce((sum, cpu) => sum + cpu.times.idle, 0);
  return times;
}

/** Of the time that passed, so 1 is a processor: what each has had from `before` to `after`. */
export const shares = (before: ProcessorTime, after: ProcessorTime, ms: number): ProcessorTime =>
  Object.fromEntries(Object.entries(after).map(([name, time]) => [name, (time - before[name]!) / ms]));
