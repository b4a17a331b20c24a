import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = existsSync('/proc/self/stat')
  ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  : 100;

/** Returns the fields of /proc/<pid>/stat after the program's name; undefined without /proc or the process. */
function statOf(pid: number | string): number[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name may contain spaces and parentheses.
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return undefined;
  }
}

const seconds = (stat: number[] | undefined, from: number, to: number): number | undefined =>
  stat && stat.slice(from, to).reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND;

/** Returns the CPU seconds that a process has used; undefined without /proc. */
export const cpuSeconds = (pid: number): number | undefined => seconds(statOf(pid), 11, 13);

/** Returns the CPU seconds of a process and its children, such as the sessions of Postgres; undefined without /proc. */
export function familyCpuSeconds(pid: number): number | undefined {
  // Includes children that have exited.
  const own = seconds(statOf(pid), 11, 15);
  if (own === undefined) return undefined;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .reduce((sum, stat) => (stat?.[1] === pid ? sum + seconds(stat, 11, 13)! : sum), own);
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
