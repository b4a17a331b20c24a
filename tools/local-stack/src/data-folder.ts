import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StackFile } from '@perkway/fleet';
import { commandLineOf, isAlive } from '@perkway/local-servers';
import { appScript } from './paths.js';
import { StackError, stackFileOfBase, type Settings } from './settings.js';

/** The processes of a data folder, so that the next start can stop what a killed supervisor left running. */
interface Running {
  supervisor: number;
  pids: Record<string, number>;
}

const LOG_LIMIT_BYTES = 20 * 1024 * 1024;
const ORPHAN_GRACE_MS = 8_000;

const reasonOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code ?? (error as Error).message;

function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

/** Replaces the file atomically. Only its owner may read it, because it contains keys. */
function writeJson(file: string, value: unknown): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

function makeWritable(folder: string, what: string, variable: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
    const probe = join(folder, `.probe-${process.pid}`);
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (error) {
    throw new StackError(
      `Cannot write to the ${what} ${folder} (${reasonOf(error)}). Set ${variable} to another path.`,
      { cause: error },
    );
  }
}

/** Returns true if the process is a supervisor of this tool and not another program that got its pid. */
const isSupervisor = async (pid: number): Promise<boolean> =>
  isAlive(pid) && /local-stack[/\\]src[/\\]main\.ts/.test(await commandLineOf(pid));

/** The folder with all data of a stack, owned by one supervisor at a time. */
export class DataFolder {
  readonly logDir: string;
  private readonly dataDir: string;
  private readonly runningFile: string;
  private readonly running: Running = { supervisor: process.pid, pids: {} };
  private published?: StackFile;
  private owned = false;

  private constructor(
    private readonly settings: Settings,
    private currentStackFile: string,
  ) {
    this.dataDir = settings.dataDir;
    this.logDir = join(this.dataDir, 'logs');
    this.runningFile = join(this.dataDir, 'running.json');
  }

  /** Claims the folder for this process and stops what a killed supervisor left running. */
  static async open(settings: Settings, print: (line: string) => void): Promise<DataFolder> {
    makeWritable(settings.dataDir, 'data folder', 'DATA_DIR');
    const folder = new DataFolder(settings, await chooseStackFile(settings));
    makeWritable(dirname(folder.stackFile), 'folder of the stack file', 'STACK_FILE');
    await folder.claim(print);
    // Its contents were about the last run.
    rmSync(folder.stackFile, { force: true });
    return folder;
  }

  /** Removes the data if asked, and throws if existing data is unusable. */
  prepare({ fresh }: { fresh: boolean }): void {
    if (fresh)
      for (const name of ['postgres', 'nats', 'logs', 'secrets.json', 'demo-state.json', 'demo-history.json'])
        rmSync(this.path(name), { recursive: true, force: true });
    if (existsSync(this.path('postgres')) && !existsSync(this.path('secrets.json')))
      throw new StackError(
        `${this.dataDir} holds data, but the secrets.json for it is missing. Put it back, or remove the data with npm start -- --fresh.`,
      );
    mkdirSync(this.logDir, { recursive: true });
  }

  get stackFile(): string {
    return this.currentStackFile;
  }

  path(name: string): string {
    return join(this.dataDir, name);
  }

  /** Returns the path of a log file to append to. A large one is renamed first. */
  logFile(name: string): string {
    const file = join(this.logDir, `${name}.log`);
    if (existsSync(file) && statSync(file).size > LOG_LIMIT_BYTES) renameSync(file, `${file}.1`);
    return file;
  }

  recordPid(name: string, pid: number): void {
    this.running.pids[name] = pid;
    writeJson(this.runningFile, this.running);
    if (this.published) writeJson(this.currentStackFile, { ...this.published, pids: this.running.pids });
  }

  /** Writes the stack file, after which other tools may use the stack. */
  async publish(stack: Omit<StackFile, 'pids' | 'dataDir' | 'logDir'>): Promise<void> {
    const { dataDir, logDir } = this;
    // Chosen again, because another stack may have taken the file meanwhile.
    this.currentStackFile = await chooseStackFile(this.settings);
    this.published = { ...stack, pids: this.running.pids, dataDir, logDir };
    writeJson(this.currentStackFile, this.published);
  }

  release(): void {
    if (!this.owned) return;
    this.owned = false;
    if (this.published) rmSync(this.currentStackFile, { force: true });
    rmSync(this.runningFile, { force: true });
  }

  private async claim(print: (line: string) => void): Promise<void> {
    for (;;) {
      try {
        writeFileSync(this.runningFile, JSON.stringify(this.running), { flag: 'wx', mode: 0o600 });
        this.owned = true;
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const former = readJson<Running>(this.runningFile);
      if (former && (await isSupervisor(former.supervisor)))
        throw new StackError(
          `A stack is already running on ${this.dataDir} (pid ${former.supervisor}). Stop it, or set DATA_DIR and PORT_BASE to start a second one.`,
        );
      const stopped = await this.stopOrphans(former?.pids ?? {});
      if (stopped.length > 0)
        print(`Stopped processes that a killed supervisor had left running: ${stopped.join(', ')}.`);
      rmSync(this.runningFile, { force: true });
    }
  }

  /** Stops those that still run and returns their names. A pid that now belongs to another program is left alone. */
  private async stopOrphans(pids: Record<string, number>): Promise<string[]> {
    const isOurs = async (name: string, pid: number): Promise<boolean> => {
      const mark = name === 'postgres' || name === 'nats' ? this.path(name) : appScript(name, 'main');
      return isAlive(pid) && (await commandLineOf(pid)).includes(mark);
    };
    const stop = async ([name, pid]: [string, number]): Promise<string | undefined> => {
      if (!(await isOurs(name, pid))) return undefined;
      // For Postgres SIGINT is a fast shutdown, which does not wait for clients.
      process.kill(pid, name === 'postgres' ? 'SIGINT' : 'SIGTERM');
      const deadline = Date.now() + ORPHAN_GRACE_MS;
      while (await isOurs(name, pid)) {
        if (Date.now() > deadline) process.kill(pid, 'SIGKILL');
        await sleep(50);
      }
      return name;
    };
    const isServer = ([name]: [string, number]) => name === 'postgres' || name === 'nats';
    const entries = Object.entries(pids);
    const apps = await Promise.all(entries.filter((entry) => !isServer(entry)).map(stop));
    const servers = await Promise.all(entries.filter(isServer).map(stop));
    return [...apps, ...servers].filter((name) => name !== undefined);
  }
}

/** Returns the stack file to use. If another running stack uses the default one, ours gets a name of its own. */
async function chooseStackFile(settings: Settings): Promise<string> {
  const { stackFile, stackFileNamed, dataDir } = settings;
  const other = readJson<StackFile>(stackFile)?.dataDir;
  if (!other || other === dataDir) return stackFile;
  const supervisor = readJson<Running>(join(other, 'running.json'))?.supervisor;
  if (!supervisor || !(await isSupervisor(supervisor))) return stackFile;
  if (stackFileNamed)
    throw new StackError(
      `The stack file ${stackFile} belongs to a running stack (pid ${supervisor}). Set STACK_FILE to another path.`,
    );
  return stackFileOfBase(settings);
}
