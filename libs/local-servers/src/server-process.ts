import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface LaunchOptions {
  command: string;
  args: string[];
  /** A program, with options, that runs the command, such as `setpriv --reuid=1`. It must exec. */
  prefix?: string[];
  cwd?: string;
  /** The whole environment; defaults to ours. */
  env?: NodeJS.ProcessEnv;
  /** Standard output and standard error are appended to this file. Its folder is created if missing. */
  logFile: string;
  uid?: number;
  gid?: number;
  /** Kills the process when this one dies for any reason. */
  dieWithParent?: boolean;
  /** Keeps the process in this session and process group, so Ctrl-C reaches it. */
  inSession?: boolean;
}

const TAIL_BYTES = 4096;

/** Returns the full path of a program on `PATH`, or undefined. */
export const onPath = (program: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file));

/**
 * Returns a command prefix that kills the command when this process dies: with the kernel's help on Linux, else with a
 * watcher.
 */
function dieWithParentPrefix(): string[] {
  const setpriv = process.platform === 'linux' ? onPath('setpriv') : undefined;
  if (setpriv) return [setpriv, '--pdeathsig', 'KILL'];
  // The shell execs the program, so in the watcher `$$` is the program's pid.
  const watch = 'while kill -0 "$parent" && kill -0 $$; do sleep 1; done; kill -9 $$';
  const script = `parent=$0; ( ${watch} ) >/dev/null 2>&1 & exec "$@"`;
  return ['sh', '-c', script, String(process.pid)];
}

/**
 * A child process that writes to a log file. Unless `inSession`, it leads its own process group, so Ctrl-C does not
 * reach it.
 */
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

  /** Rejects if the program cannot be started (missing, not executable, no such user). */
  static async launch(options: LaunchOptions): Promise<ServerProcess> {
    const [command, ...args] = [
      ...(options.prefix ?? []),
      // After the prefix, because changing the user clears the parent-death signal.
      ...(options.dieWithParent ? dieWithParentPrefix() : []),
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
        detached: !options.inSession,
        ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.gid }),
      });
      const started = new ServerProcess(child, options.logFile, logStart);
      await once(child, 'spawn');
      // Later errors mean that a signal could not be sent; `exited` reports the end.
      child.on('error', () => {});
      return started;
    } finally {
      closeSync(log);
    }
  }

  get running(): boolean {
    return this.exit === undefined;
  }

  /** Returns the last output of this process, at most 4 KiB. */
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

  /** Does nothing after the process has exited, because its pid may be reused. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) this.child.kill(signal);
  }

  /** Sends the signals one after another until the process exits. The last one should be SIGKILL. */
  async stop(steps: readonly { signal: NodeJS.Signals; graceMs: number }[]): Promise<void> {
    // A process stopped by SIGSTOP handles no signal but SIGKILL until it continues.
    this.signal('SIGCONT');
    for (const { signal, graceMs } of steps) {
      if (!this.running) return;
      this.signal(signal);
      await Promise.race([this.exited, sleep(graceMs, undefined, { ref: false })]);
    }
    await this.exited;
  }
}

/** Returns true if a process with this pid exists, even another user's; false for a zombie. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    // `pid (name) state ...`: the name may contain anything, even a parenthesis.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.startsWith('Z');
  } catch {
    return true;
  }
};

/** Returns the command line of a process, separated by spaces, or '' if it is gone or unreadable. */
export async function commandLineOf(pid: number): Promise<string> {
  try {
    if (existsSync('/proc/self/cmdline'))
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    return (await run('ps', ['-o', 'command=', '-p', String(pid)], { timeoutMs: 5_000 })).trim();
  } catch {
    return '';
  }
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  signal?: AbortSignal;
  /** Standard input. */
  input?: string;
  /** Default: one minute. */
  timeoutMs?: number;
  /** Includes standard error in the returned output. */
  includeStderr?: boolean;
}

/**
 * Runs a program and returns its standard output. Rejects with the end of its output if it fails or takes longer than
 * `timeoutMs`.
 */
export async function run(command: string, args: string[], options: RunOptions = {}): Promise<string> {
  const { input = '', timeoutMs = 60_000, includeStderr = false, ...spawnOptions } = options;
  const child = spawn(command, args, spawnOptions);
  let output = '';
  let tail = '';
  const collect = (stream: Readable, isReturned: boolean) =>
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (isReturned) output += text;
      tail = (tail + text).slice(-TAIL_BYTES);
    });
  collect(child.stdout, true);
  collect(child.stderr, includeStderr);
  // The program may end before it has read its input, which is no error.
  child.stdin.on('error', () => undefined).end(input);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
    // Grandchildren, such as apt's download methods, may keep the pipes open.
    child.stdout.destroy();
    child.stderr.destroy();
  }, timeoutMs);
  const commandLine = [command, ...args.slice(0, 3)].join(' ');
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    if (timedOut) throw new Error(`${commandLine} took longer than ${timeoutMs / 1000} s: ${tail.trim()}`);
    if (code !== 0) throw new Error(`${commandLine} failed (${signal ?? code}): ${tail.trim()}`);
    return output;
  } finally {
    clearTimeout(timer);
  }
}
