import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ApiError, isCallerId, unavailable } from '@perkway/domain';
import { ENV, HealthService, isDatabaseUnavailable, LOGGER, ResilientClient } from '@perkway/platform';
import type { Socket } from 'node:net';
import pg from 'pg';
import type { Logger } from 'pino';
import type { AnalyticsQueryEnv } from '../env.js';
import { queryError } from '../query/query-error.js';
import { cancelQuery } from './cancel.js';
import { RowFlow } from './row-flow.js';

export interface Statement {
  text: string;
  params: unknown[];
  /**
   * How it reads raw rows: `groups` groups all of them, `distinct` makes nearly as many groups as rows, and `list` may
   * stop early.
   */
  reads?: 'groups' | 'distinct' | 'list';
}
/** Receives the rows of a statement, each as an array of column values. */
export type OnRow = (row: unknown[]) => void;

/** The deadline of a request, and whether its client still waits. */
export interface QueryDeadline {
  /** Epoch milliseconds. */
  deadline: number;
  signal: AbortSignal;
  /** Other queries are waiting or running, so this one must not use more than one processor. */
  isBusy?: boolean;
}

const { builtins } = pg.types;
const asIs = (text: string): string => text;
/** `2026-01-31 10:00:00.5` -> `2026-01-31T10:00:00.500` */
export const cubeTime = (text: string): string => {
  const [date, time = '00:00:00'] = text.split(' ');
  const [clock, fraction = ''] = time.split('.');
  return `${date}T${clock}.${fraction.slice(0, 3).padEnd(3, '0')}`;
};
/** Values as the Cube API writes them: 64-bit integers and numerics as strings, times as local wall time. */
const PARSERS: Record<number, (text: string) => unknown> = {
  [builtins.TIMESTAMP]: cubeTime,
  [builtins.INT8]: asIs,
  [builtins.NUMERIC]: asIs,
  [builtins.INT4]: Number,
};
const types = { getTypeParser: (oid: number) => PARSERS[oid] ?? asIs } as unknown as pg.CustomTypesConfig;

/** Timeout of connecting, and of the statement that opens a transaction, which should both be quick. */
const CONNECT_TIMEOUT_MS = 2_000;
/**
 * A small query takes three times as long if it is the first on its connection, so connections are kept while a user
 * looks at a dashboard.
 */
const IDLE_MS = 5 * 60_000;
/** The server cancels a query at its deadline; a server that stays silent after that is gone. */
const SILENCE_MS = 3_000;
const QUERY_CANCELED = '57014';
/** Error codes that an invalid query causes: data exceptions, and operators that do not fit their operands. */
const INVALID_QUERY_CODES = /^(22|42883|42804|42725)/;
/**
 * The account of a row that the reader sees only if its account setting reaches the rows. On a distributed database,
 * `set local` may not reach the other nodes.
 */
const PROBE_ACCOUNT = 'reader-probe';
const PROBE = `select account_id, to_regclass('pg_catalog.pg_dist_partition') is null from reader_probe`;
/**
 * Waits for the swap of a month (see sort-month.ts) before the transaction has a snapshot: an older snapshot does not
 * see all rows of the new table.
 */
const WAIT_FOR_SWAP = 'lock table only tracking_events in access share mode';

/** Has its own connect timeout, because the pool's timeout includes waiting for other queries. */
class ReaderClient extends ResilientClient {
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
  /** True if a check found that the account setting of a transaction does not reach the rows. */
  private isBlind = false;
  /** True if maintenance swaps the tables of months, as it does in a store that is not distributed. */
  private isSwapped = false;

  constructor(
    @Inject(ENV) env: AnalyticsQueryEnv,
    @Inject(LOGGER) private readonly logger: Logger,
    health: HealthService,
  ) {
    health.require(() => {
      // Each health probe starts a check until one has succeeded, and the next probe sees its result: the first check
      // may have failed, and a process that is not ready gets no queries that would check again.
      this.ensureVerified().catch(() => undefined);
      return !this.isBlind;
    });
    this.timeoutMs = env.QUERY_TIMEOUT_MS;
    this.pool = new pg.Pool({
      Client: ReaderClient,
      connectionString: env.READER_DATABASE_URL,
      application_name: 'analytics-query-reader',
      max: env.READER_POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS + this.timeoutMs,
      // Sends statements without waiting for earlier responses: one round trip per transaction.
      pipeline: true,
      keepAlive: true,
      idleTimeoutMillis: IDLE_MS,
    } as pg.PoolConfig);
    this.pool.on('error', (err) => this.logger.warn({ err }, 'lost a reader connection'));
  }

  /** Checks early, so that the log shows a wrong setup at startup; not awaited, because the database may be down. */
  onModuleInit() {
    this.ensureVerified().catch(() => undefined);
  }

  async onApplicationShutdown() {
    await this.pool.end();
  }

  /** Returns all rows of one statement, for small results. */
  async rows(account: string, statement: Statement, queryDeadline: QueryDeadline): Promise<unknown[][]> {
    const rows: unknown[][] = [];
    await this.read(account, [{ ...statement, onRow: (row) => rows.push(row) }], queryDeadline);
    return rows;
  }

  /**
   * Runs the statements in one snapshot that sees only the account's rows.
   * @param flow pauses and resumes the rows
   * @throws ApiError 400 if the database rejects the query or it times out, 503 if the database is down
   */
  async read(
    account: string,
    statements: (Statement & { onRow: OnRow })[],
    queryDeadline: QueryDeadline,
    flow?: RowFlow,
  ): Promise<void> {
    await this.ensureVerified();
    await this.transaction(account, statements, queryDeadline, flow);
  }

  private ensureVerified(): Promise<void> {
    this.verified ??= this.verify().catch((error: unknown) => {
      this.verified = undefined;
      throw error;
    });
    return this.verified;
  }

  /** Refuses to serve if the account setting does not reach the rows, because every count would be 0. */
  private async verify(): Promise<void> {
    const seen: unknown[][] = [];
    const { signal } = new AbortController();
    await this.transaction(PROBE_ACCOUNT, [{ text: PROBE, params: [], onRow: (row) => seen.push(row) }], {
      signal,
      deadline: Date.now() + this.timeoutMs,
    });
    const wasBlind = this.isBlind;
    this.isBlind = seen.length !== 1 || seen[0]![0] !== PROBE_ACCOUNT;
    this.isSwapped = seen[0]?.[1] === 't';
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
    { deadline, signal, isBusy = false }: QueryDeadline,
    flow = new RowFlow(),
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
    // No response in time: the connection to the server is lost.
    const silence = setTimeout(() => socket.destroy(), leftMs + SILENCE_MS);
    if (signal.aborted) void cancel();
    signal.addEventListener('abort', cancel, { once: true });
    let failure: unknown;
    try {
      flow.attach(socket);
      const opening = setTimeout(() => socket.destroy(), CONNECT_TIMEOUT_MS);
      // One write for all, because each write would wake the server up.
      socket.cork();
      const sent = [
        client
          .query(beginAs(account, leftMs, settingsFor(statements, isBusy)))
          .finally(() => clearTimeout(opening)),
        // A message of its own, because the statement timeout applies from the next message on.
        ...(this.isSwapped ? [client.query(WAIT_FOR_SWAP)] : []),
        ...statements.map((statement) => streamRows(client, statement, cancel)),
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
      flow.detach();
      // A late cancel request would hit the next query on this connection.
      await cancelling;
    }
    const { code } = (failure ?? {}) as { code?: string };
    client.release(failure !== undefined && isDatabaseUnavailable(failure) && code !== QUERY_CANCELED);
    if (failure !== undefined) throw this.translate(failure);
  }

  private translate(error: unknown): unknown {
    const { code, message } = error as { code?: string; message?: string };
    if (code === QUERY_CANCELED)
      return queryError(
        `Error: The query took longer than ${this.timeoutMs / 1000} seconds. Ask for less, for example a shorter dateRange`,
      );
    if (error instanceof ApiError) return error;
    if (isDatabaseUnavailable(error)) return unavailable('The analytics database');
    if (typeof code === 'string' && INVALID_QUERY_CODES.test(code)) return queryError(`Error: ${message}`);
    return error;
  }
}

/** Runs a statement and passes its rows on without keeping them. Cancels it if `onRow` throws. */
function streamRows(
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

/** Planner settings for the statements. */
function settingsFor(statements: Statement[], isBusy: boolean): string[] {
  const reads = (what: Statement['reads']) => statements.some((statement) => statement.reads === what);
  const readsAll = (reads('groups') || reads('distinct')) && !reads('list');
  return [
    // Compiling the expressions of each partition takes longer than it saves.
    'jit = off',
    ...(readsAll
      ? [
          // If every row is needed, reading page by page takes two thirds of the time of reading row by row.
          'enable_indexscan = off',
          // Pages are usually in memory, so CPU work dominates the cost.
          'seq_page_cost = 0.1',
          'random_page_cost = 0.11',
          reads('distinct')
            ? // 100,000 distinct values take 10 MB, and a hash may use twice `work_mem` before it spills. Parallel
              // workers would pass nearly every row on, which takes longer than counting it.
              "work_mem = '16MB'"
            : // Parallel workers pass on only groups, so starting them pays off from about 80,000 rows on.
              'parallel_tuple_cost = 0.01',
        ]
      : // Random pages of the covering index cost little: no reason to read whole partitions.
        ['random_page_cost = 1.1']),
    ...(isBusy ? ['max_parallel_workers_per_gather = 0'] : []),
  ];
}

/**
 * Returns the commands that open a transaction, as one message. Settings that end with the transaction also work
 * through a connection pooler, and Citus passes `set local` on to its nodes if the role is configured for it.
 */
function beginAs(account: string, timeoutMs: number, settings: string[]): string {
  // Checked because it becomes part of the SQL: only the simple protocol takes several commands at once.
  if (!isCallerId(account)) throw new Error('invalid account id');
  return [
    'begin transaction isolation level repeatable read read only',
    `set local statement_timeout = ${timeoutMs}`,
    ...settings.map((setting) => `set local ${setting}`),
    `set local perkway.account_id = '${account}'`,
  ].join('; ');
}
