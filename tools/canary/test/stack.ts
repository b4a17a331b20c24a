import type { WholeStackFile } from '@perkway/fleet';
import { LocalStack } from '@perkway/test-fleet';
import { keptMessages, keptRows, runFolder } from '@perkway/testing';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Found } from '../src/search.js';

/** A local stack with the database's superuser, and what is left of its data. */
export class Stack {
  private constructor(
    private readonly stack: LocalStack,
    private readonly folder: string,
    readonly database: pg.Pool,
    /** The stack file of the previous start. */
    readonly former?: WholeStackFile,
  ) {}

  static start(): Promise<Stack> {
    return Stack.run(runFolder('canary'));
  }

  private static async run(folder: string, former?: Stack): Promise<Stack> {
    const stack = await LocalStack.start({
      folder,
      portBase: former?.stack.portBase,
      env: { LOG_LEVEL: 'debug' },
    });
    const database = new pg.Pool({ connectionString: stack.file.databaseUrl, max: 2 });
    database.on('error', () => undefined);
    return new Stack(stack, folder, database, former?.file);
  }

  get file(): WholeStackFile {
    return this.stack.file;
  }

  /** Starts again after `stop`, with the same data and ports. */
  again(): Promise<Stack> {
    return Stack.run(this.folder, this);
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
    await this.stack.stop();
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
