import { runFolder } from '@perkway/testing';
import { freePorts } from '@perkway/local-servers';
import { LAST_PORT } from '@perkway/fleet';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { keptMessages, keptRows } from '@perkway/testing';
import type { Found } from '../src/search.js';

const ROOT = join(__dirname, '../../..');
const START_LIMIT_MS = 400_000;

/** The contents of the stack file. */
export interface StackFile {
  hosts: Record<'perks' | 'links' | 'boost' | 'gift' | 'rewards' | 'token' | 'query' | 'console', string>;
  adminKey: string;
  databaseUrl: string;
  natsUrl: string;
  pids: Record<string, number>;
  logDir: string;
  dataDir: string;
  accounts: { id: string; userKey: string; collections: string[]; campaigns: string[]; pools: string[] }[];
}

interface Place {
  folder: string;
  portBase: number;
}

/** A built stack as `npm start` runs it, independent of other stacks. */
export class Stack {
  private constructor(
    readonly file: StackFile,
    readonly database: pg.Pool,
    private readonly process: ChildProcess,
    private readonly place: Place,
    /** The stack file of the previous start. */
    readonly former?: StackFile,
  ) {}

  static async start(): Promise<Stack> {
    return Stack.run({ folder: runFolder('canary'), portBase: (await freePorts(LAST_PORT)) - 1 });
  }

  private static async run(place: Place, former?: StackFile): Promise<Stack> {
    const stackFile = join(place.folder, 'stack.json');
    rmSync(stackFile, { force: true });
    const child = spawn(process.execPath, ['--import', 'tsx', 'tools/local-stack/src/main.ts'], {
      cwd: ROOT,
      env: {
        ...process.env,
        PORT_BASE: String(place.portBase),
        STACK_FILE: stackFile,
        DATA_DIR: join(place.folder, 'data'),
        LOG_LEVEL: 'debug',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    for (const deadline = Date.now() + START_LIMIT_MS; !existsSync(stackFile); await sleep(200)) {
      if (child.exitCode !== null) throw new Error('the stack exited before it was ready');
      if (Date.now() < deadline) continue;
      child.kill('SIGTERM');
      throw new Error('the stack did not start in time');
    }
    const file = JSON.parse(readFileSync(stackFile, 'utf8')) as StackFile;
    const database = new pg.Pool({ connectionString: file.databaseUrl, max: 2 });
    database.on('error', () => undefined);
    return new Stack(file, database, child, place, former);
  }

  /** Starts again after `stop`, with the same data and ports. */
  again(): Promise<Stack> {
    return Stack.run(this.place, this.file);
  }

  readonly query = async <Row extends pg.QueryResultRow>(sql: string, params?: unknown[]): Promise<Row[]> =>
    (await this.database.query<Row>(sql, params)).rows;

  /** Returns logs of apps and servers, metrics, rows and messages. */
  async leftBehind(): Promise<Found[]> {
    const logs = readdirSync(this.file.logDir).map((name) => ({
      place: `log ${name}`,
      text: readFileSync(join(this.file.logDir, name), 'utf8'),
    }));
    const metrics = await Promise.all(
      Object.entries(this.file.hosts).map(async ([host, url]) => ({
        place: `metrics of ${host}`,
        text: await (await fetch(`${url}/metrics`)).text(),
      })),
    );
    return [...logs, ...metrics, ...(await this.kept())];
  }

  async kept(): Promise<Found[]> {
    return [...(await keptRows(this)), ...(await keptMessages(this.file.natsUrl))];
  }

  /** Returns the stack's generated secrets: passwords, keyrings, peppers. */
  ownSecrets(): string[] {
    const strings = (value: unknown): string[] =>
      typeof value === 'string'
        ? value.split(/[",:{}[\]]+/)
        : value && typeof value === 'object'
          ? Object.values(value).flatMap(strings)
          : [];
    const secrets = JSON.parse(readFileSync(join(this.file.dataDir, 'secrets.json'), 'utf8')) as object;
    return strings(secrets).filter((text) => text.length >= 24);
  }

  async stop(): Promise<void> {
    await this.database.end();
    if (this.process.exitCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await ended;
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.place.folder, { recursive: true, force: true });
  }
}
