import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DomainError, isCallerId, unavailable } from '@perkway/domain';
import { ENV, isDatabaseAway, LOGGER, SteadyClient } from '@perkway/platform';
import pg from 'pg';
import type { Logger } from 'pino';
import type { AnalyticsQueryEnv } from '../env.js';
import { queryError } from '../query/query-error.js';

export interface Statement {
  text: string;
  params: unknown[];
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
const QUERY_CANCELED = '57014';
/** Data exceptions, and operators that do not fit their operands: the query asked for something senseless. */
const CALLERS_MISTAKE = /^(22|42883|42804|42725)/;

/** With a limit of its own for connecting, because that of the pool covers waiting for the queries of others too. */
class ReaderClient extends SteadyClient {
  constructor(options?: pg.ClientConfig) {
    super({ ...options, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  }
}

/** Reads the event store as `analytics_reader`, one account at a time. */
@Injectable()
export class Reader implements OnApplicationShutdown {
  private readonly pool: pg.Pool;
  private readonly timeoutMs: number;

  constructor(
    @Inject(ENV) env: AnalyticsQueryEnv,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.timeoutMs = env.QUERY_TIMEOUT_MS;
    this.pool = new pg.Pool({
      Client: ReaderClient,
      connectionString: env.READER_DATABASE_URL,
      application_name: 'analytics-query-reader',
      max: env.READER_POOL_SIZE,
      // Waiting for a connection means waiting for the queries of others, each of which has a limit.
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS + this.timeoutMs,
      query_timeout: this.timeoutMs + 1_000,
      idle_in_transaction_session_timeout: 10_000,
      keepAlive: true,
    });
    this.pool.on('error', (err) => this.logger.warn({ err }, 'a reader connection was lost'));
  }

  async onApplicationShutdown() {
    await this.pool.end();
  }

  /**
   * Runs the statements in one read-only transaction that sees the account's rows and nobody else's.
   * @returns the rows of each statement, as arrays
   * @throws DomainError 400 for what the database refuses as senseless or takes too long for, 503 when it is away
   */
  async read(account: string, statements: Statement[]): Promise<unknown[][][]> {
    // It becomes part of the text below, because only the simple protocol takes several commands at once.
    if (!isCallerId(account)) throw new Error('not an account id');
    let client: pg.PoolClient;
    try {
      client = await this.pool.connect();
    } catch (error) {
      throw this.translate(error);
    }
    try {
      // A database that hangs is noticed here, before the long limit of a query begins.
      const begin: pg.QueryConfig & { query_timeout: number } = {
        text: this.begin(account),
        query_timeout: CONNECT_TIMEOUT_MS,
      };
      await client.query(begin);
      const results: unknown[][][] = [];
      for (const { text, params } of statements) {
        const { rows } = await client.query<unknown[]>({ text, values: params, rowMode: 'array', types });
        results.push(rows);
      }
      await client.query('commit');
      client.release();
      return results;
    } catch (error) {
      const isBroken = isDatabaseAway(error) && (error as { code?: string }).code !== QUERY_CANCELED;
      await (isBroken ? Promise.reject(error) : client.query('rollback')).then(
        () => client.release(),
        () => client.release(true),
      );
      throw this.translate(error);
    }
  }

  /**
   * One round trip. Settings that end with the transaction also work through a connection pooler. Pages of the
   * covering index cost little out of order, so the planner is told not to prefer reading whole partitions.
   */
  private begin(account: string): string {
    return [
      'begin transaction read only',
      `set local statement_timeout = ${this.timeoutMs}`,
      'set local random_page_cost = 1.1',
      `select set_config('perkway.account_id', '${account}', true)`,
    ].join('; ');
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
