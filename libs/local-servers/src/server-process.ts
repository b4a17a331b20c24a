import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface LaunchOptions {
  command: string;
  args: string[];
  /** A program and its options that the command is handed to, such as `setpriv --reuid=1`; it must exec. */
  prefix?: string[];
  cwd?: string;
  /** The whole environment of the process; ours if absent. */
  env?: NodeJS.ProcessEnv;
  /** Both output streams are appended to this file; its folder is made if need be. */
  logFile: string;
  uid?: number;
  gid?: number;
  /** The process is killed when this one dies, however it dies. */
  dieWithParent?: boolean;
}

const TAIL_BYTES = 4096;

/** The full path of a program on `PATH`, or undefined. */
export const onPath = (program: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file));

/** A prefix to a command that ends it with this process: by the kernel, or where that is Linux-only, by a watcher. */
function leash(): string[] {
  const setpriv = process.platform === 'linux' ? onPath('setpriv') : undefined;
  if (setpriv) return [setpriv, '--pdeathsig', 'KILL'];
  // The shell becomes the program, so `$$` is the program's pid in the watcher too.
  const watch = 'while kill -0 "$parent" && kill -0 $$; do sleep 1; done; kill -9 $$';
  const script = `parent=$0; ( ${watch} ) >/dev/null 2>&1 & exec "$@"`;
  return ['sh', '-c', script, String(process.pid)];
}

/** One running child that writes to a log file. It leads its own process group, so a Ctrl-C does not reach it. */
export class ServerProcess {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  private exit?: Exit;

  private constructor(
    private readonly child: ChildProcess,
    private readonly logFile: string,
    private readonly logStart: number,
  ) {
    this.pid = child.pid!;
    this.exited = new Promise((resolve) =>
      child.once('exit', (code, signal) => {
        this.exit = { code, signal };
        resolve(this.exit);
      }),
    );
  }

  /** Rejects when the program cannot be started at all (missing, not executable, no such user). */
  static async launch(options: LaunchOptions): Promise<ServerProcess> {
    const [command, ...args] = [
      ...(options.prefix ?? []),
      // After the prefix, because a change of user clears what setpriv asks of the kernel.
      ...(options.dieWithParent ? leash() : []),
      options.command,
      ...options.args,
    ];
    mkdirSync(dirname(options.logFile), { recursive: true });
    const log = openSync(options.logFile, 'a');
    try {
      const logStart = fstatSync(log).size;
      const child = spawn(command!, args, {
        cwd: options.cwd,
        env: options.env,
        stdio: ['ignore', log, log],
        detached: true,
        ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.gid }),
      });
      const started = new ServerProcess(child, options.logFile, logStart);
      await once(child, 'spawn');
      // From here on an error is a signal that could not be sent, and `exited` tells the end.
      child.on('error', () => {});
      return started;
    } finally {
      closeSync(log);
    }
  }

  get running(): boolean {
    return this.exit === undefined;
  }

  /** What this process has written, at most the last 4 KiB of it. */
  logTail(): string {
    const log = openSync(this.logFile, 'r');
    try {
      const { size } = fstatSync(log);
      const from = Math.max(this.logStart, size - TAIL_BYTES);
      const buffer = Buffer.alloc(Math.max(0, size - from));
      return buffer.toString('utf8', 0, readSync(log, buffer, 0, buffer.length, from)).trim();
    } finally {
      closeSync(log);
    }
  }

  /** Does nothing once the process is gone, so a pid that was given out again is never hit. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) this.child.kill(signal);
  }

  /** Sends each signal in turn until the process has gone; the last one should be SIGKILL. */
  async stop(steps: readonly { signal: NodeJS.Signals; graceMs: number }[]): Promise<void> {
    // A stopped (SIGSTOP) process does not see any other signal.
    this.signal('SIGCONT');
    for (const { signal, graceMs } of steps) {
      if (!this.running) return;
      this.signal(signal);
      await Promise.race([this.exited, sleep(graceMs, undefined, { ref: false })]);
    }
    await this.exited;
  }
}

/**
 * True while a process with this pid exists, also one that belongs to somebody else; false for one that has ended and
 * that nobody has collected yet.
 */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    // `pid (name) state ...`: the name may hold anything, also a parenthesis.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.startsWith('Z');
  } catch {
    return true;
  }
};

/** The command line of a process, its parts separated by spaces; '' when it is gone or cannot be read. */
export async function commandLineOf(pid: number): Promise<string> {
  try {
    if (existsSync('/proc/self/cmdline'))
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    return (await run('ps', ['-o', 'command=', '-p', String(pid)], { timeoutMs: 5_000 })).trim();
  } catch {
    return '';
  }
}

/**
 * Runs a program to its end and answers its standard output. Rejects with what it wrote to standard error when it
 * fails or takes longer than `timeoutMs`.
 */
export async function run(
  command: string,
  args: string[],
  options: {
    timeoutMs: number;
    cwd?: string;
    env?: NodeJS.ProcessEnv;
    uid?: number;
    gid?: number;
    signal?: AbortSignal;
  },
): Promise<string> {
  const { timeoutMs, ...spawnOptions } = options;
  const child = spawn(command, args, { ...spawnOptions, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (errors = (errors + text).slice(-TAIL_BYTES)));
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
    // Grandchildren (apt's download methods) may hold the pipes open.
    child.stdout.destroy();
    child.stderr.destroy();
  }, timeoutMs);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    if (timedOut) throw new Error(`${command} took longer than ${timeoutMs / 1000} s`);
    if (code !== 0)
      throw new Error(`${command} failed (${signal ?? code}): ${errors.trim() || output.trim()}`);
    return output;
  } finally {
    clearTimeout(timer);
  }
}
