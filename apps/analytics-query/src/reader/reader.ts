import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DomainError, isCallerId, unavailable } from '@perkway/domain';
import { ENV, HealthService, isDatabaseAway, LOGGER, SteadyClient } from '@perkway/platform';
import type { Socket } from 'node:net';
import pg from 'pg';
import type { Logger } from 'pino';
import type { AnalyticsQueryEnv } from '../env.js';
import { queryError } from '../query/query-error.js';
import { cancelQuery } from './cancel.js';

export interface Statement {
  text: string;
  params: unknown[];
  /**
   * What it makes of raw rows: groups of all of them, a group for each different thing (nearly as many as rows), or a list
   * that may end early.
   */
  reads?: 'groups' | 'things' | 'list';
}
/** Told the rows of a statement, each as the values of its columns. */
export type OnRow = (row: unknown[]) => void;

/** How much longer a request may take, and whether anybody still waits for it. */
export interface Patience {
  /** Epoch milliseconds. */
  deadline: number;
  signal: AbortSignal;
  /** Others are being answered too: processors are for them, not for more than one for this. */
  isBusy?: boolean;
}

/** Values as the Cube API writes them: whole numbers and numerics as text, times as local wall time. */
const { builtins } = pg.types;
const asIs = (text: string): string => text;
/** `2026-01-31 10:00:00.5` -> `2026-01-31T10:00:00.500` */
export const cubeTime = (text: string): string => {
  const [date, time = '00:00:00'] = text.split(' ');
  const [clock, fraction = ''] = time.split('.');
  return `${date}T${clock}.${fraction.slice(0, 3).padEnd(3, '0')}`;
};
const PARSERS: Record<number, (text: string) => unknown> = {
  [builtins.TIMESTAMP]: cubeTime,
  [builtins.INT8]: asIs,
  [builtins.NUMERIC]: asIs,
  [builtins.INT4]: Number,
};
const types = { getTypeParser: (oid: number) => PARSERS[oid] ?? asIs } as unknown as pg.CustomTypesConfig;

/** Connecting, and the statement that opens a transaction: neither has anything to compute. */
const CONNECT_TIMEOUT_MS = 2_000;
/** A new connection costs its first query three times what a small one takes, so it is kept between two looks at a dashboard. */
const IDLE_MS = 5 * 60_000;
/** The server ends a query at its deadline; one that does not answer then is gone. */
const SILENCE_MS = 3_000;
const QUERY_CANCELED = '57014';
/** Data exceptions, and operators that do not fit their operands: the query asked for something senseless. */
const CALLERS_MISTAKE = /^(22|42883|42804|42725)/;
/** The account of the row that shows whether settings reach the rows (a transaction's setting may not reach other nodes). */
const PROBE_ACCOUNT = 'reader-probe';

/** With a limit of its own for connecting, because that of the pool covers waiting for the queries of others too. */
class ReaderClient extends SteadyClient {
  constructor(options?: pg.ClientConfig) {
    super({ ...options, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  }
}

const socketOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** Reads the event store as `analytics_reader`, one account at a time. */
@Injectable()
export class Reader implements OnModuleInit, OnApplicationShutdown {
  private readonly pool: pg.Pool;
  private readonly timeoutMs: number;
  private verified?: Promise<void>;
  /** The account that a transaction names was seen not to arrive at the rows. */
  private isBlind = false;

  constructor(
    @Inject(ENV) env: AnalyticsQueryEnv,
    @Inject(LOGGER) private readonly logger: Logger,
    health: HealthService,
  ) {
    health.require(() => {
      // Nobody else may ask while this gets no traffic; what is found out counts for the next probe.
      if (this.isBlind) this.ensureVerified().catch(() => undefined);
      return !this.isBlind;
    });
    this.timeoutMs = env.QUERY_TIMEOUT_MS;
    this.pool = new pg.Pool({
      Client: ReaderClient,
      connectionString: env.READER_DATABASE_URL,
      application_name: 'analytics-query-reader',
      max: env.READER_POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS + this.timeoutMs,
      // Statements are sent without waiting for the answers to those before: one round trip for a transaction.
      pipeline: true,
      keepAlive: true,
      idleTimeoutMillis: IDLE_MS,
    } as pg.PoolConfig);
    this.pool.on('error', (err) => this.logger.warn({ err }, 'a reader connection was lost'));
  }

  /** Early in the log; not waited for, because the database may be away. */
  onModuleInit() {
    this.ensureVerified().catch(() => undefined);
  }

  async onApplicationShutdown() {
    await this.pool.end();
  }

  /** All rows of one statement, for answers that are small. */
  async rows(account: string, statement: Statement, patience: Patience): Promise<unknown[][]> {
    const rows: unknown[][] = [];
    await this.read(account, [{ ...statement, onRow: (row) => rows.push(row) }], patience);
    return rows;
  }

  /**
   * Runs the statements in one snapshot that sees the account's rows and nobody else's.
   * @param attach told the socket that rows come from, for whoever must hold them up
   * @throws DomainError 400 for what the database refuses as senseless or takes too long for, 503 when it is away
   */
  async read(
    account: string,
    statements: (Statement & { onRow: OnRow })[],
    patience: Patience,
    attach?: (socket: Socket) => void,
  ): Promise<void> {
    await this.ensureVerified();
    await this.transaction(account, statements, patience, attach);
  }

  private ensureVerified(): Promise<void> {
    this.verified ??= this.verify().catch((error: unknown) => {
      this.verified = undefined;
      throw error;
    });
    return this.verified;
  }

  /** Refuses to serve where the account that a transaction names does not arrive: every count would be 0. */
  private async verify(): Promise<void> {
    const seen: unknown[][] = [];
    const { signal } = new AbortController();
    await this.transaction(
      PROBE_ACCOUNT,
      [{ text: 'select account_id from reader_probe', params: [], onRow: (row) => seen.push(row) }],
      { signal, deadline: Date.now() + this.timeoutMs },
    );
    const wasBlind = this.isBlind;
    this.isBlind = seen.length !== 1 || seen[0]![0] !== PROBE_ACCOUNT;
    if (!this.isBlind) return;
    if (!wasBlind)
      this.logger.fatal(
        'not ready: the setting perkway.account_id does not reach the rows, so every count would be 0; on Citus run `perkway distribute`',
      );
    throw unavailable('The analytics database');
  }

  private async transaction(
    account: string,
    statements: (Statement & { onRow: OnRow })[],
    { deadline, signal, isBusy = false }: Patience,
    attach?: (socket: Socket) => void,
  ): Promise<void> {
    let client: pg.PoolClient;
    try {
      client = await this.pool.connect();
    } catch (error) {
      throw this.translate(error);
    }
    const socket = socketOf(client);
    let cancelling: Promise<void> | undefined;
    const cancel = () => (cancelling ??= cancelQuery(client as unknown as pg.Client));
    const leftMs = Math.max(1, deadline - Date.now());
    // Nothing is answered in time: the way to the server is gone.
    const silence = setTimeout(() => socket.destroy(), leftMs + SILENCE_MS);
    if (signal.aborted) void cancel();
    signal.addEventListener('abort', cancel, { once: true });
    let failure: unknown;
    try {
      attach?.(socket);
      const opening = setTimeout(() => socket.destroy(), CONNECT_TIMEOUT_MS);
      // All in one write: each would wake the server up.
      socket.cork();
      const sent = [
        client
          .query(beginAs(account, leftMs, settingsFor(statements, isBusy)))
          .finally(() => clearTimeout(opening)),
        ...statements.map((statement) => runs(client, statement, cancel)),
        client.query('commit'),
      ];
      socket.uncork();
      const results = await Promise.allSettled(sent);
      failure = results.find((result) => result.status === 'rejected')?.reason;
    } catch (error) {
      failure = error;
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', cancel);
      socket.resume();
      // A late one would hit the next query on this connection.
      await cancelling;
    }
    const { code } = (failure ?? {}) as { code?: string };
    client.release(failure !== undefined && isDatabaseAway(failure) && code !== QUERY_CANCELED);
    if (failure !== undefined) throw this.translate(failure);
  }

  private translate(error: unknown): unknown {
    const { code, message } = error as { code?: string; message?: string };
    if (code === QUERY_CANCELED)
      return queryError(
        `Error: The query took longer than ${this.timeoutMs / 1000} seconds. Ask for less, for example a shorter dateRange`,
      );
    if (error instanceof DomainError) return error;
    if (isDatabaseAway(error)) return unavailable('The analytics database');
    if (typeof code === 'string' && CALLERS_MISTAKE.test(code)) return queryError(`Error: ${message}`);
    return error;
  }
}

/** A statement whose rows are passed on and not kept. Stops it when they are refused. */
function runs(
  client: pg.ClientBase,
  { text, params, onRow }: Statement & { onRow: OnRow },
  stop: () => void,
): Promise<void> {
  const query = new pg.Query({ text, values: params, rowMode: 'array', types } as pg.QueryArrayConfig);
  return new Promise((resolve, reject) => {
    let isRefused = false;
    query.on('row', (row: unknown) => {
      if (isRefused) return;
      try {
        onRow(row as unknown[]);
      } catch (error) {
        isRefused = true;
        reject(error);
        stop();
      }
    });
    query.on('end', () => resolve());
    query.on('error', reject);
    client.query(query);
  });
}

/** What the planner is told. */
function settingsFor(statements: Statement[], isBusy: boolean): string[] {
  const reads = (what: Statement['reads']) => statements.some((statement) => statement.reads === what);
  const readsAll = (reads('groups') || reads('things')) && !reads('list');
  return [
    // Compiling the expressions of each partition takes longer than what it spares.
    'jit = off',
    ...(readsAll
      ? [
          // Where every row is needed, page by page takes two thirds of what row by row takes.
          'enable_indexscan = off',
          // Pages are in memory as a rule, so work counts.
          'seq_page_cost = 0.1',
          'random_page_cost = 0.11',
          reads('things')
            ? // 100,000 of them take 10 MB, and twice this much is given to them before they go to the disk. A worker would
              // pass nearly every row on, which takes longer than to count it.
              "work_mem = '16MB'"
            : // Groups alone are passed on by workers: these are worth their start from about 80,000 rows on.
              'parallel_tuple_cost = 0.01',
        ]
      : // Pages of the covering index cost little out of order: no reason to read whole partitions.
        ['random_page_cost = 1.1']),
    ...(isBusy ? ['max_parallel_workers_per_gather = 0'] : []),
  ];
}

/**
 * One message. Settings that end with the transaction also work through a connection pooler, and `set local` is what
 * a distributed database passes on to its nodes.
 */
function beginAs(account: string, timeoutMs: number, settings: string[]): string {
  // It becomes part of the text, because only the simple protocol takes several commands at once.
  if (!isCallerId(account)) throw new Error('not an account id');
  return [
    'begin transaction isolation level repeatable read read only',
    `set local statement_timeout = ${timeoutMs}`,
    ...settings.map((setting) => `set local ${setting}`),
    `set local perkway.account_id = '${account}'`,
  ].join('; ');
}
