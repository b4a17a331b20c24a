import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LAST_PORT, type WholeStackFile } from '@perkway/fleet';
import { freePorts } from '@perkway/local-servers';
import { ROOT } from './test-fleet.js';

const START_LIMIT_MS = 400_000;
const STOP_LIMIT_MS = 60_000;

export interface LocalStackOptions {
  /** For the stack file and the data. The caller removes it. */
  folder: string;
  /** Free ports by default. */
  portBase?: number;
  env?: Record<string, string>;
  startLimitMs?: number;
}

/** A local stack that runs the built bundles as `npm start` does, independent of other stacks. */
export class LocalStack {
  private constructor(
    readonly file: WholeStackFile,
    readonly portBase: number,
    /** The environment variables that lead commands to this stack. */
    readonly environment: Record<string, string>,
    private readonly process: ChildProcess,
  ) {}

  /** Resolves when the stack is ready. If it does not start, its processes have ended when this rejects. */
  static async start({ folder, env, startLimitMs = START_LIMIT_MS, ...options }: LocalStackOptions) {
    const portBase = options.portBase ?? (await freePorts(LAST_PORT)) - 1;
    const stackFile = join(folder, 'stack.json');
    const environment = {
      PORT_BASE: String(portBase),
      STACK_FILE: stackFile,
      DATA_DIR: join(folder, 'data'),
      ...env,
    };
    rmSync(stackFile, { force: true });
    const child = spawn(process.execPath, ['--import', 'tsx', 'tools/local-stack/src/main.ts'], {
      cwd: ROOT,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    for (const deadline = Date.now() + startLimitMs; !existsSync(stackFile); await sleep(200)) {
      if (child.exitCode !== null) throw new Error('the local stack exited before it was ready');
      if (Date.now() < deadline) continue;
      await end(child, 'SIGTERM', STOP_LIMIT_MS);
      throw new Error('the local stack did not start in time');
    }
    const file = JSON.parse(readFileSync(stackFile, 'utf8')) as WholeStackFile;
    return new LocalStack(file, portBase, environment, child);
  }

  /** Resolves with the exit code. Kills the stack and rejects if it does not stop in time. */
  stop(signal: NodeJS.Signals = 'SIGTERM', limitMs = STOP_LIMIT_MS): Promise<number | null> {
    return end(this.process, signal, limitMs);
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals, limitMs: number): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, limitMs);
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  clearTimeout(timer);
  if (isLate) throw new Error(`the local stack did not stop within ${limitMs / 1000} s`);
  return child.exitCode;
}
