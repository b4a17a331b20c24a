import { Inject, Injectable } from '@nestjs/common';
import { unavailable, type CustomAttributes } from '@perkway/domain';
import { ENV, isDatabaseUnavailable, LOGGER } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { GiftCardsEnv } from '../env.js';

/** One request, as the SQL function `reserve_links` takes it. */
export interface ReservationRequest {
  link: string;
  account: string;
  pool: string | null;
  denomination: number;
  currency: string;
  country: string | null;
  expires_at: number;
  created_by: string;
  idempotency_key: string;
  /** Hex. */
  body_digest: string;
  token_key: string;
  key_id: string;
  campaign_id: string | null;
  journey_id: string | null;
  reference: string | null;
  /** Null if there are none. */
  attributes: Partial<CustomAttributes> | null;
  /** The link that this one replaces. */
  replaces?: string;
  replacement_reason?: string;
}

export type ReservationError = 'EXPIRING_DATE_INVALID' | 'POOL_NOT_FOUND' | 'NO_AVAILABLE_CARDS';
export type ReservationOutcome =
  /** `event` is in the outbox. */
  | { outcome: 'RESERVED'; event: string }
  /** An earlier request created the link. */
  | { outcome: 'EXISTS'; body_digest: Buffer; token_key: string }
  /** `event` is a `ReachedLimit` as JSON. */
  | { outcome: 'LIMIT_REACHED'; event: string }
  | { outcome: ReservationError };
type Undecided =
  /** Other transactions hold the last cards, or links expired meanwhile: retry alone. */
  | { outcome: 'BUSY' }
  /** A card counts as available, but no row was found to wait for. */
  | { outcome: 'GONE' }
  /** A limit still counts links that have ended: call `settle_limits` and retry. */
  | { outcome: 'UNSETTLED' };
type ReservationResult = ReservationOutcome | Undecided;

const isDecided = (result: ReservationResult): result is ReservationOutcome =>
  result.outcome !== 'BUSY' && result.outcome !== 'GONE' && result.outcome !== 'UNSETTLED';

/** The limit that refuses a link. */
export interface ReachedLimit {
  limit: string;
  /** Seconds; null if it never resets. */
  resetsIn: number | null;
}

const CONCURRENT_TRANSACTIONS = 2;
const REQUESTS_PER_TRANSACTION = 64;
/** With more requests waiting than this, the database is too far behind to serve another one in time. */
const MAX_WAITING = 5_000;
/** How long a request retries alone before it fails with 503. */
const RETRY_LIMIT_MS = 5_000;
/** After more GONE attempts than this, treats the pool as empty: the inventory numbers are wrong. */
const MAX_GONE = 20;
const GONE_PAUSE_MS = 5;

interface Waiting {
  request: ReservationRequest;
  resolve: (outcome: ReservationOutcome) => void;
  reject: (error: unknown) => void;
}

/**
 * Reserves cards. Requests that arrive while earlier ones are in progress share the next transaction, because one round
 * trip and one disk flush cost the same for many as for one. Each request still gets its own outcome, and each response
 * leaves only after the commit.
 */
@Injectable()
export class Reservations {
  private readonly waiting: Waiting[] = [];
  private running = 0;
  private isScheduled = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(ENV) private readonly env: GiftCardsEnv,
  ) {}

  /**
   * Reserves a card, unless an earlier request with this idempotency key did. Rejects only if the database fails or is
   * too slow.
   */
  decide(request: ReservationRequest): Promise<ReservationOutcome> {
    if (this.waiting.length >= MAX_WAITING) return Promise.reject(unavailable('The database'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject });
      this.schedule();
    });
  }

  private schedule() {
    if (this.isScheduled || this.running >= CONCURRENT_TRANSACTIONS) return;
    this.isScheduled = true;
    // setImmediate runs after all requests that were read in this turn of the event loop.
    setImmediate(() => {
      this.isScheduled = false;
      if (this.waiting.length === 0) return;
      this.running += 1;
      void this.run(this.waiting.splice(0, REQUESTS_PER_TRANSACTION)).finally(() => {
        this.running -= 1;
        if (this.waiting.length > 0) this.schedule();
      });
      if (this.waiting.length > 0) this.schedule();
    });
  }

  private async run(group: Waiting[]) {
    // Repeats of one request have the same link id. The first one runs here; the others run alone afterwards, and get
    // EXISTS if it reserved a card.
    const links = new Set<string>();
    const firsts = group.filter(({ request: { link } }) => !links.has(link) && links.add(link));
    let results: ReservationResult[];
    try {
      results = await this.transact(
        firsts.map(({ request }) => request),
        false,
      );
    } catch (error) {
      // Waiting requests would hit the same outage, so they fail now.
      if (isDatabaseUnavailable(error))
        return [...group, ...this.waiting.splice(0)].forEach(({ reject }) => reject(error));
      if (group.length === 1) return group[0]!.reject(error);
      // One request that the database rejects must not fail the others.
      this.logger.error(
        { err: error, requests: group.length },
        'could not reserve in one transaction, retrying one request at a time',
      );
      results = firsts.map(() => ({ outcome: 'BUSY' }));
    }
    const decided = new Map(firsts.map((waiting, index) => [waiting, results[index]!]));
    for (const waiting of group) {
      const result = decided.get(waiting);
      if (result && isDecided(result)) waiting.resolve(result);
      else void this.runAlone(waiting);
    }
  }

  /**
   * Runs one request in its own transactions. It may wait for transactions that hold the last cards. Recounts its
   * limits if they still count links that have ended.
   */
  private async runAlone({ request, resolve, reject }: Waiting) {
    try {
      const end = Date.now() + RETRY_LIMIT_MS;
      for (let gone = 0; Date.now() < end;) {
        const result = (await this.transact([request], true))[0]!;
        if (result.outcome === 'GONE') {
          gone += 1;
          if (gone > MAX_GONE) return resolve({ outcome: 'NO_AVAILABLE_CARDS' });
          await sleep(GONE_PAUSE_MS);
        } else if (result.outcome === 'UNSETTLED') {
          await this.dataSource.query('select settle_limits($1)', [JSON.stringify(request)]);
        } else if (isDecided(result)) return resolve(result);
      }
      throw unavailable('The database');
    } catch (error) {
      reject(error);
    }
  }

  /**
   * Runs one statement, so that the transaction takes one round trip. A named statement is planned once per connection.
   */
  private async transact(requests: ReservationRequest[], mayWait: boolean): Promise<ReservationResult[]> {
    const pool = (this.dataSource.driver as PostgresDriver).master as pg.Pool | undefined;
    // TypeORM makes the pool when it first connects. Until then, it rejects its own queries with this error.
    if (!pool) throw new Error('Driver not Connected');
    const { rows } = await pool.query<ReservationResult>({
      name: this.env.NAMED_STATEMENTS ? 'reserve-links' : undefined,
      text: 'select * from reserve_links($1, $2)',
      values: [JSON.stringify(requests), mayWait],
    });
    const events = rows.flatMap((row) => (row.outcome === 'RESERVED' ? [row.event] : []));
    // A refusal may write a limit_reached event to the outbox; `event` holds the limit instead.
    if (events.length > 0 || rows.some(({ outcome }) => outcome === 'LIMIT_REACHED'))
      this.tracking.relaySoon(events);
    return rows;
  }
}
