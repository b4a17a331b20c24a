import type { WholeStackFile } from '@perkway/fleet';
import { LocalStack } from '@perkway/test-fleet';
import { keptMessages, keptRows, runFolder } from '@perkway/testing';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Found } from '../src/search.js';

/** Returns a text that occurs nowhere else, to search for. */
export const canaryText = (what: string): string => `canary-${what}-${randomBytes(9).toString('hex')}`;

export interface Call {
  method?: string;
  headers?: Record<string, string>;
  body?: string | object;
}

/** Sends a request, and does not follow redirects. */
export async function send(url: string, { method = 'GET', headers = {}, body }: Call = {}) {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: typeof body === 'object' ? JSON.stringify(body) : body,
  });
  const text = await response.text();
  // Typed by the HTTP contract only; an unexpected shape fails the step that uses it.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const json = (): any => JSON.parse(text);
  return { status: response.status, headers: response.headers, text, json };
}
export type Reply = Awaited<ReturnType<typeof send>>;

/** A local stack with access to its database as superuser, and to everything that it leaves behind. */
export class Stack {
  database: pg.Pool;
  /** The stack file of the previous start. */
  former?: WholeStackFile;
  private stack: LocalStack;
  private readonly folder = runFolder('canary');

  static async start(): Promise<Stack> {
    const stack = new Stack();
    await stack.launch();
    return stack;
  }

  private async launch(portBase?: number): Promise<void> {
    this.stack = await LocalStack.start({
      folder: this.folder,
      portBase,
      env: { LOG_LEVEL: 'debug' },
    });
    this.database = new pg.Pool({ connectionString: this.file.databaseUrl, max: 2 });
    this.database.on('error', () => undefined);
  }

  get file(): WholeStackFile {
    return this.stack.file;
  }

  /** Stops, and starts again with the same data and ports after `change`. */
  async restart(change: () => Promise<void>): Promise<void> {
    this.former = this.file;
    await this.stop();
    await change();
    await this.launch(this.stack.portBase);
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

  private async stop(): Promise<void> {
    await this.database.end();
    await this.stack.stop();
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
