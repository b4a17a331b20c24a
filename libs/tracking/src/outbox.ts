import { SteadyClient } from '@perkway/platform';
import pg from 'pg';

/** What a caller's transaction offers: TypeORM's EntityManager or QueryRunner. */
export interface SqlRunner {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

const INSERT = 'insert into tracking_outbox (event) select unnest($1::text[])';
const TAKE = `
  delete from tracking_outbox
  where seq = any (array(select seq from tracking_outbox order by seq limit $1 for update skip locked))
  returning event, extract(epoch from now() - created_at)::float8 as age`;

/** Waiting for a connection, and for a statement: a Postgres that hangs must not hang a customer. */
const CONNECT_TIMEOUT_MS = 400;
const QUERY_TIMEOUT_MS = 1_200;
const INSERTS_AT_ONCE = 2;
const EVENTS_PER_INSERT = 2_000;

interface Waiting {
  events: readonly string[];
  settle: (written: boolean) => void;
}

/** The table `tracking_outbox`, through connections of its own so that a busy app pool does not delay it. */
export class Outbox {
  /** True while it took no events: nobody waits for it again until the background has brought some into it. */
  isAway = false;

  private readonly pool: pg.Pool;
  private waiting: Waiting[] = [];
  private running = 0;

  constructor(connectionString: string, app: string) {
    this.pool = new pg.Pool({
      Client: SteadyClient,
      connectionString,
      application_name: `${app}-outbox`,
      // The relay needs one beside the inserts.
      max: INSERTS_AT_ONCE + 1,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      idleTimeoutMillis: 10_000,
      keepAlive: true,
      allowExitOnIdle: true,
    });
    // An idle connection that breaks is replaced at its next use.
    this.pool.on('error', () => undefined);
  }

  static insertInto(runner: SqlRunner, events: readonly string[]): Promise<unknown> {
    return runner.query(INSERT, [events]);
  }

  /**
   * Callers that wait at the same moment share one insert.
   * @returns false if it is not known to be written within the time; it may still be
   */
  write(events: readonly string[], timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      const settle = (written: boolean) => {
        clearTimeout(timer);
        resolve(written);
      };
      this.waiting.push({ events, settle });
      if (this.running < INSERTS_AT_ONCE) void this.insertWaiting();
    });
  }

  /**
   * Takes up to `limit` of the oldest rows that no other replica is taking, and deletes them if `deliver` says that
   * they arrived.
   * @returns what happened, and the age in seconds of the oldest row
   */
  async relay(
    limit: number,
    deliver: (events: string[]) => Promise<boolean>,
  ): Promise<{ taken: number; delivered: boolean; oldestAge: number }> {
    const client = await this.pool.connect();
    let failure: Error | undefined;
    try {
      await client.query('begin');
      const { rows } = await client.query<{ event: string; age: number }>(TAKE, [limit]);
      const delivered = rows.length === 0 || (await deliver(rows.map(({ event }) => event)));
      await client.query(delivered ? 'commit' : 'rollback');
      return {
        taken: rows.length,
        delivered,
        oldestAge: rows.reduce((max, { age }) => Math.max(max, age), 0),
      };
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      client.release(failure);
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async insertWaiting() {
    this.running += 1;
    while (this.waiting.length > 0) {
      const group: Waiting[] = [];
      for (let count = 0; this.waiting.length > 0 && count < EVENTS_PER_INSERT;) {
        const next = this.waiting.shift()!;
        group.push(next);
        count += next.events.length;
      }
      const written = await this.insert(group.flatMap(({ events }) => events));
      for (const { settle } of group) settle(written);
    }
    this.running -= 1;
  }

  private async insert(events: string[]): Promise<boolean> {
    try {
      await this.pool.query(INSERT, [events]);
      return true;
    } catch {
      return false;
    }
  }
}
