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
import { commandLineOf, isAlive } from '@perkway/local-servers';
import { appScript } from './paths.js';
import { StackError, stackFileOfBase, type Settings } from './settings.js';

/** Who runs on a data folder: the record by which the next start finds what a killed supervisor left behind. */
interface Running {
  supervisor: number;
  pids: Record<string, number>;
}

/** The contents of the stack file, for the demo, benches and checks. */
export interface StackFile {
  /** Base URLs of the apps that exist. */
  hosts: Partial<
    Record<'perks' | 'links' | 'boost' | 'gift' | 'rewards' | 'token' | 'query' | 'console', string>
  >;
  adminKey: string;
  /** A superuser's: reads every schema. */
  databaseUrl: string;
  /** The operator's: may do everything on the broker. */
  natsUrl: string;
  /** By the folder name of the app, `postgres` and `nats`; only what this stack started. */
  pids: Record<string, number>;
  dataDir: string;
  logDir: string;
  accounts: { id: string; userKey: string; collections: string[]; campaigns: string[]; pools: string[] }[];
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

/** A reader sees the old file or the new one, never a part. It holds keys, so only its owner may read it. */
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
      `The ${what} ${folder} cannot be written (${reasonOf(error)}): set ${variable} to another place.`,
      { cause: error },
    );
  }
}

/** True while the process is a supervisor of ours; its pid may long belong to something else. */
const isSupervisor = async (pid: number): Promise<boolean> =>
  isAlive(pid) && /local-stack[/\\]src[/\\]main\.ts/.test(await commandLineOf(pid));

/** The folder that holds all that a stack keeps, owned by one supervisor at a time. */
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

  /** Takes the folder for this process and stops what a killed supervisor left behind in it. */
  static async open(settings: Settings, print: (line: string) => void): Promise<DataFolder> {
    makeWritable(settings.dataDir, 'data folder', 'DATA_DIR');
    const folder = new DataFolder(settings, await chooseStackFile(settings));
    makeWritable(dirname(folder.stackFile), 'folder of the stack file', 'STACK_FILE');
    await folder.claim(print);
    // What is in it was true of the last run only.
    rmSync(folder.stackFile, { force: true });
    return folder;
  }

  /** Removes the data if asked, and refuses data that cannot be used. */
  prepare({ fresh }: { fresh: boolean }): void {
    if (fresh)
      for (const name of ['postgres', 'nats', 'logs', 'secrets.json', 'demo-state.json'])
        rmSync(this.path(name), { recursive: true, force: true });
    if (existsSync(this.path('postgres')) && !existsSync(this.path('secrets.json')))
      throw new StackError(
        `${this.dataDir} holds data but not the secrets.json that belongs to it: put it back, or start with npm start -- --fresh.`,
      );
    mkdirSync(this.logDir, { recursive: true });
  }

  get stackFile(): string {
    return this.currentStackFile;
  }

  path(name: string): string {
    return join(this.dataDir, name);
  }

  /** A log file that is appended to; a large one is put aside first. */
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

  /** Writes the stack file: from now on others may use the stack. */
  async publish(stack: Omit<StackFile, 'pids' | 'dataDir' | 'logDir'>): Promise<void> {
    const { dataDir, logDir } = this;
    // Chosen anew, because a stack that started beside this one may have been quicker.
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
          `A stack runs on ${this.dataDir} already (pid ${former.supervisor}): stop it, or set DATA_DIR and PORT_BASE to start a second one.`,
        );
      const stopped = await this.stopOrphans(former?.pids ?? {});
      if (stopped.length > 0)
        print(`Stopped what a supervisor that was killed had left running: ${stopped.join(', ')}.`);
      rmSync(this.runningFile, { force: true });
    }
  }

  /** Answers the names of those that still ran. A pid that belongs to another program by now is left alone. */
  private async stopOrphans(pids: Record<string, number>): Promise<string[]> {
    const isOurs = async (name: string, pid: number): Promise<boolean> => {
      const mark = name === 'postgres' || name === 'nats' ? this.path(name) : appScript(name, 'main');
      return isAlive(pid) && (await commandLineOf(pid)).includes(mark);
    };
    const stop = async ([name, pid]: [string, number]): Promise<string | undefined> => {
      if (!(await isOurs(name, pid))) return undefined;
      // SIGINT is Postgres's word for "now, but in order".
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

/** The default stack file may be that of another stack that runs; then ours gets a name of its own. */
async function chooseStackFile(settings: Settings): Promise<string> {
  const { stackFile, stackFileNamed, dataDir } = settings;
  const other = readJson<StackFile>(stackFile)?.dataDir;
  if (!other || other === dataDir) return stackFile;
  const supervisor = readJson<Running>(join(other, 'running.json'))?.supervisor;
  if (!supervisor || !(await isSupervisor(supervisor))) return stackFile;
  if (stackFileNamed)
    throw new StackError(
      `The stack file ${stackFile} belongs to a stack that runs (pid ${supervisor}): set STACK_FILE to another one.`,
    );
  return stackFileOfBase(settings);
}
