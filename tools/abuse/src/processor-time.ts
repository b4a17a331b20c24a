import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { TestFleet } from '@perkway/test-fleet';

/** Linux counts in hundredths of a second. */
const MS_PER_TICK = 10;

/** CPU time in milliseconds by app, over all its processes, with `idle` for unused time. */
export type ProcessorTime = Record<string, number>;

export function processorTime(fleet: TestFleet): ProcessorTime {
  const times: ProcessorTime = {};
  for (const { app, process } of Object.values(fleet.replicas).flat()) {
    // `pid (name) state ...`: the name may contain anything.
    const fields = readFileSync(`/proc/${process.pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    times[app] = (times[app] ?? 0) + (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  }
  times.idle = cpus().reduce((sum, cpu) => sum + cpu.times.idle, 0);
  return times;
}

/** Returns the processors used between `before` and `after`; 1 is one full processor. */
export const shares = (before: ProcessorTime, after: ProcessorTime, ms: number): ProcessorTime =>
  Object.fromEntries(Object.entries(after).map(([name, time]) => [name, (time - before[name]!) / ms]));
