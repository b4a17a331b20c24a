import { Inject, Injectable } from '@nestjs/common';
import {
  TRACKING_EVENT_VERSION,
  unavailable,
  type CustomAttributes,
  type RewardLinkEvent,
} from '@perkway/domain';
import { ENV, isDatabaseAway, LOGGER } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { GiftCardsEnv } from '../env.js';

/** One request as the function `reserve_cards` takes it. */
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
  campaign_id: string | null;
  journey_id: string | null;
  reference: string | null;
  /** Null for none. */
  attributes: Partial<CustomAttributes> | null;
}

export type Refusal = 'EXPIRING_DATE_INVALID' | 'POOL_NOT_FOUND' | 'NO_AVAILABLE_CARDS';
export type ReservationOutcome =
  | { outcome: 'RESERVED' }
  /** The link was made before. */
  | { outcome: 'EXISTS'; body_digest: Buffer; token_key: string }
  | { outcome: Refusal };
type Answer = ReservationOutcome | { outcome: 'BUSY' } | { outcome: 'GONE' };

const TRANSACTIONS_AT_ONCE = 2;
const REQUESTS_PER_TRANSACTION = 64;
/** Beyond it the database is too far behind for another request to be answered in time. */
const MAX_WAITING = 5_000;
/** How long one request runs after the last cards, while others take or hold them. */
const ALONE_LIMIT_MS = 5_000;
/** If so often nobody holds the card that is said to be there, the numbers are wrong. */
const MAX_GONE = 20;
const GONE_PAUSE_MS = 5;

interface Waiting {
  request: ReservationRequest;
  resolve: (outcome: ReservationOutcome) => void;
  reject: (error: unknown) => void;
}

/**
 * Reserves cards. Requests that arrive while earlier ones are being decided share the next transaction: its round trips
 * and its wait for the disk cost as much for many as for one. Each is still decided on its own, and each answer
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

  /** Decides about the idempotency key first, then reserves. Fails only when the database does. */
  decide(request: ReservationRequest): Promise<ReservationOutcome> {
    if (this.waiting.length >= MAX_WAITING) return Promise.reject(unavailable('The database'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject });
      this.schedule();
    });
  }

  private schedule() {
    if (this.isScheduled || this.running >= TRANSACTIONS_AT_ONCE) return;
    this.isScheduled = true;
    // An immediate runs after all requests that were read in this turn of the event loop.
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
    // Of requests with one key the first decides; what that means for the others is asked afterwards.
    const links = new Set<string>();
    const firsts = group.filter(({ request: { link } }) => !links.has(link) && links.add(link));
    let answers: Answer[];
    try {
      answers = await this.transact(
        firsts.map(({ request }) => request),
        false,
      );
    } catch (error) {
      // Those who came meanwhile would only wait as long for the same.
      if (isDatabaseAway(error))
        return [...group, ...this.waiting.splice(0)].forEach(({ reject }) => reject(error));
      if (group.length === 1) return group[0]!.reject(error);
      // One request that the database cannot take must not fail its neighbours.
      this.logger.error(
        { err: error, requests: group.length },
        'reserving together failed, trying one by one',
      );
      answers = firsts.map(() => ({ outcome: 'BUSY' }));
    }
    const decided = new Map(firsts.map((waiting, index) => [waiting, answers[index]!]));
    for (const waiting of group) {
      const answer = decided.get(waiting);
      if (!answer || answer.outcome === 'BUSY' || answer.outcome === 'GONE') void this.runAlone(waiting);
      else waiting.resolve(answer);
    }
  }

  /** Alone in its transactions, a request may wait for those who are about to take the last cards. */
  private async runAlone({ request, resolve, reject }: Waiting) {
    try {
      const end = Date.now() + ALONE_LIMIT_MS;
      for (let gone = 0; Date.now() < end;) {
        const answer = (await this.transact([request], true))[0]!;
        if (answer.outcome === 'GONE') {
          gone += 1;
          if (gone > MAX_GONE) return resolve({ outcome: 'NO_AVAILABLE_CARDS' });
          await sleep(GONE_PAUSE_MS);
        } else if (answer.outcome !== 'BUSY') return resolve(answer);
      }
      throw unavailable('The database');
    } catch (error) {
      reject(error);
    }
  }

  /** One statement, so that the whole transaction is one round trip. By name, so that it is planned once. */
  private async transact(requests: ReservationRequest[], mayWait: boolean): Promise<Answer[]> {
    const pool = (this.dataSource.driver as PostgresDriver).master as pg.Pool;
    const events = requests.map((request) => JSON.stringify(toEvent(request)));
    const { rows } = await pool.query<Answer>({
      name: this.env.NAMED_STATEMENTS ? 'reserve-cards' : undefined,
      text: 'select * from reserve_cards($1, $2)',
      values: [
        JSON.stringify(requests.map((request, index) => ({ ...request, event: events[index] }))),
        mayWait,
      ],
    });
    this.tracking.relaySoon(events.filter((_, index) => rows[index]!.outcome === 'RESERVED'));
    return rows;
  }
}

const toEvent = (request: ReservationRequest): RewardLinkEvent => ({
  v: TRACKING_EVENT_VERSION,
  id: `${request.link}:generated`,
  account: request.account,
  at: Date.now(),
  type: 'reward_link',
  state: 'generated',
  // Used only when a card was reserved, so there is a pool.
  pool: request.pool!,
  denomination: request.denomination,
  currency: request.currency,
  createdBy: request.created_by,
  // What is undefined is left out.
  campaign: request.campaign_id ?? undefined,
  journey: request.journey_id ?? undefined,
  reference: request.reference ?? undefined,
  ...request.attributes,
});
