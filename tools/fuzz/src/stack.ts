import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LAST_PORT } from '@perkway/fleet';
import { freePorts } from '@perkway/local-servers';

/** The part of the stack file that is needed here. */
export interface Stack {
  hosts: Record<
    'perks' | 'links' | 'boost' | 'gift' | 'rewards' | 'token' | 'query' | 'console' | 'events',
    string
  >;
  adminKey: string;
  accounts: { id: string; userKey: string; collections: string[]; campaigns: string[]; pools: string[] }[];
  logDir: string;
}

export interface RunningStack extends Stack {
  stop(): Promise<void>;
}

const START_LIMIT_MS = 180_000;
const ROOT = join(import.meta.dirname, '../../..');

const read = (file: string): Stack => JSON.parse(readFileSync(file, 'utf8')) as Stack;

/** Uses a running stack. */
export const givenStack = (file: string): RunningStack => ({ ...read(file), stop: async () => undefined });

/** Starts a separate local stack from the built bundles. Its data is removed when it stops. */
export async function startStack(): Promise<RunningStack> {
  const folder = mkdtempSync(join(tmpdir(), 'perkway-fuzz-'));
  const stackFile = join(folder, 'stack.json');
  const child = spawn(process.execPath, ['--import', 'tsx', 'tools/local-stack/src/main.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      PORT_BASE: String((await freePorts(LAST_PORT)) - 1),
      STACK_FILE: stackFile,
      DATA_DIR: join(folder, 'data'),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + START_LIMIT_MS;
  while (!existsSync(stackFile)) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error('the local stack did not start');
    }
    await sleep(200);
  }
  return { ...read(stackFile), stop };
}
