import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = existsSync('/proc/self/stat')
  ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  : 100;

/** Returns the CPU seconds that a process has used; undefined without /proc. */
export function cpuSeconds(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name may contain spaces and parentheses; count the fields after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

/** CPU time of the whole machine since it started, in clock ticks of all cores; undefined without /proc. */
export function machineTicks(): { busy: number; total: number } | undefined {
  try {
    const [user, nice, system, idle, iowait, ...interrupts] = readFileSync('/proc/stat', 'utf8')
      .split('\n', 1)[0]!
      .split(/\s+/)
      .slice(1, 9)
      .map(Number) as [number, number, number, number, number, ...number[]];
    const busy = interrupts.reduce((sum, ticks) => sum + ticks, user + nice + system);
    return { busy, total: busy + idle + iowait };
  } catch {
    return undefined;
  }
}

/** Returns the resident memory in MiB; undefined without /proc. */
export function residentMiB(pid: number): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
}
