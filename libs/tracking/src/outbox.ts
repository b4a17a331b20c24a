import { eraseFromText, type Erasure } from '@perkway/domain';
import { ResilientClient } from '@perkway/platform';
import { EventEmitter } from 'node:events';
import pg from 'pg';

/** Runs statements in a caller's transaction: TypeORM's EntityManager or QueryRunner. */
export interface SqlRunner {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

const INSERT = 'insert into tracking_outbox (event) select unnest($1::text[])';
/** Maximum number of rows to count, so that counting stays fast during a long outage. */
const COUNTED = 10_000;
/** In the order of the index, which skips the rows that the relay has deleted. */
const BACKLOG = `
  select count(*)::integer as events, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "oldestS"
  from (select created_at from tracking_outbox order by seq limit ${COUNTED}) counted`;
const TAKE = `
  delete from tracking_outbox
  where seq = any (array(select seq from tracking_outbox order by seq limit $1 for update skip locked))
  returning event`;

/** Skips rows that are being relayed; analytics-query erases them when they arrive. */
const WITH_TEXT = `
  select seq, event from tracking_outbox where seq >= $1 and seq < $2 and strpos(event, $3) > 0
  for update skip locked`;
const REPLACE = `
  update tracking_outbox o set event = u.event from unnest($1::bigint[], $2::text[]) as u (seq, event) where o.seq = u.seq`;
/** Rows that one statement scans. */
const ROWS_PER_STATEMENT = 20_000;

/** Timeouts for a connection and for a statement: a hanging Postgres must not block a request. */
const CONNECT_TIMEOUT_MS = 400;
const QUERY_TIMEOUT_MS = 1_200;
const CONCURRENT_INSERTS = 2;
const EVENTS_PER_INSERT = 2_000;

export interface OutboxBacklog {
  events: number;
  oldestS: number;
}

interface Waiting {
  events: readonly string[];
  settle: (written: boolean) => void;
}

/**
 * The table `tracking_outbox`, with its own connections, so that a busy pool of the app does not delay it. Emits `lost`
 * when an idle connection breaks.
 */
export class Outbox extends EventEmitter<{ lost: [] }> {
  /** True after a failed write. Requests skip the outbox until the relay has written to it or emptied the buffer. */
  isUnavailable = false;

  private readonly pool: pg.Pool;
  private waiting: Waiting[] = [];
  private running = 0;

  constructor(connectionString: string, app: string) {
    super();
    this.pool = new pg.Pool({
      Client: ResilientClient,
      connectionString,
      application_name: `${app}-outbox`,
      // One for the relay besides the inserts.
      max: CONCURRENT_INSERTS + 1,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      idleTimeoutMillis: 10_000,
      keepAlive: true,
      allowExitOnIdle: true,
    });
    // The pool replaces a broken idle connection at the next use.
    this.pool.on('error', () => this.emit('lost'));
  }

  static insertInto(runner: SqlRunner, events: readonly string[]): Promise<unknown> {
    return runner.query(INSERT, [events]);
  }

  /**
   * Writes events; concurrent callers share one insert.
   * @returns false if the write was not confirmed in time; it may still succeed
   */
  write(events: readonly string[], timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      const settle = (written: boolean) => {
        clearTimeout(timer);
        resolve(written);
      };
      this.waiting.push({ events, settle });
      if (this.running < CONCURRENT_INSERTS) void this.insertWaiting();
    });
  }

  /** Returns the number of rows, at most 10,000, and the age of the oldest in seconds. */
  async backlog(): Promise<OutboxBacklog> {
    const { rows } = await this.pool.query<OutboxBacklog>(BACKLOG);
    return rows[0]!;
  }

  /**
   * Takes up to `limit` of the oldest rows that no other replica has locked, and deletes them if `deliver` returns
   * true.
   */
  async relay(
    limit: number,
    deliver: (events: string[]) => Promise<boolean>,
  ): Promise<{ taken: number; delivered: boolean }> {
    const client = await this.pool.connect();
    let failure: Error | undefined;
    try {
      await client.query('begin');
      const { rows } = await client.query<{ event: string }>(TAKE, [limit]);
      const delivered = rows.length === 0 || (await deliver(rows.map(({ event }) => event)));
      await client.query(delivered ? 'commit' : 'rollback');
      return { taken: rows.length, delivered };
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      client.release(failure);
    }
  }

  /** Erases a person from the events in the outbox. */
  async erase(erasure: Erasure): Promise<void> {
    const { rows } = await this.pool.query<{ first: string | null; last: string | null }>(
      'select min(seq) as first, max(seq) as last from tracking_outbox',
    );
    const [first, last] = [Number(rows[0]!.first ?? 0), Number(rows[0]!.last ?? -1)];
    for (let from = first; from <= last; from += ROWS_PER_STATEMENT)
      await this.eraseBetween(from, from + ROWS_PER_STATEMENT, erasure);
  }

  private async eraseBetween(from: number, to: number, erasure: Erasure): Promise<void> {
    const client = await this.pool.connect();
    let failure: Error | undefined;
    try {
      await client.query('begin');
      const quoted = JSON.stringify(erasure.value);
      const { rows } = await client.query<{ seq: string; event: string }>(WITH_TEXT, [from, to, quoted]);
      const changed = rows.flatMap(({ seq, event }) => {
        const erased = eraseFromText(event, erasure);
        return erased === undefined ? [] : [{ seq, event: erased }];
      });
      if (changed.length > 0)
        await client.query(REPLACE, [changed.map(({ seq }) => seq), changed.map(({ event }) => event)]);
      await client.query('commit');
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
