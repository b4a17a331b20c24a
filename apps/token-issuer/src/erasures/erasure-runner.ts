import { Inject, Injectable } from '@nestjs/common';
import { BEGIN_ERASURE, ERASE, type Erasure, type ErasureKind } from '@perkway/domain';
import { LOGGER, Loop, Loops, RpcClient } from '@perkway/platform';
import type { Logger } from 'pino';
import { Gauge, Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { BETWEEN_ROUNDS } from './rounds.js';

/** Interval of checks for erasures that other replicas have begun. `wake` and due erasures end the pause earlier. */
const POLL_MS = 5_000;
/** Erasures per batch: the event store scans its data once for all that it gets together. */
const ERASURES_PER_BATCH = 50;
/** Timeout of a request to an app, after which the request is repeated. */
const REQUEST_TIMEOUT_MS = 10_000;
/**
 * After this time, another replica takes over the erasures of a dead one. Two replicas on the same erasure do no harm.
 */
const LEASE = '30 seconds';
const RETRY_MS = 1_000;

const EVENT_STORE = 'analytics-query';
const OTHERS = (Object.keys(ERASE) as (keyof typeof ERASE)[]).filter((app) => app !== EVENT_STORE);

const OPEN = `
  select coalesce(extract(epoch from now() - min(requested_at)), 0)::float8 as age,
    extract(epoch from min(due_at) - now())::float8 * 1000 as "dueInMs"
  from erasures where completed_at is null`;
const TAKE = `
  update erasures set due_at = now() + interval '${LEASE}' where id in (
    select id from erasures where completed_at is null and due_at <= now()
    order by due_at limit ${ERASURES_PER_BATCH} for update skip locked
  ) returning id, account_id, kind, subject, round, last_round, done`;
/** Adds to `done` instead of replacing it, because another replica may work on the same erasure. */
const RECORD_PROGRESS = `
  update erasures set done = array(select distinct unnest(done || $3::text[])), due_at = now() + interval '${RETRY_MS} ms'
  where id = $1 and round = $2 and completed_at is null`;
const NEXT_ROUND = `
  update erasures set done = '{}', round = round + 1, due_at = now() + interval '${BETWEEN_ROUNDS}'
  where id = $1 and round = $2 and completed_at is null`;
const COMPLETE = `
  update erasures set done = '{}', subject = null, completed_at = now()
  where id = $1 and round = $2 and completed_at is null`;

interface Taken {
  id: string;
  account_id: string;
  kind: ErasureKind;
  subject: string;
  round: number;
  last_round: number;
  done: string[];
}

/**
 * Runs erasures on every replica until every app has finished, even if one is down for days. Requests to apps are
 * idempotent.
 */
@Injectable()
export class ErasureRunner {
  private readonly loop: Loop;
  private readonly oldest: Gauge;

  constructor(
    private readonly dataSource: DataSource,
    private readonly rpc: RpcClient,
    @Inject(LOGGER) private readonly logger: Logger,
    registry: Registry,
    loops: Loops,
  ) {
    this.loop = loops.add({ task: 'advance the erasures', everyMs: POLL_MS, run: () => this.advanceAll() });
    this.oldest = new Gauge({
      name: 'erasures_oldest_seconds',
      help: 'Age of the oldest unfinished erasure at the last check',
      registers: [registry],
    });
  }

  /** Starts to work on the open erasures, unless it already does. */
  wake(): void {
    this.loop.wake();
  }

  /** @returns the pause before the next batch; none if there may be more */
  private async advanceAll(): Promise<number> {
    const [{ age, dueInMs }] = await this.dataSource.query<[{ age: number; dueInMs: number | null }]>(OPEN);
    this.oldest.set(age);
    if (dueInMs === null || dueInMs > 0) return Math.min(dueInMs ?? POLL_MS, POLL_MS);
    const [taken] = await this.dataSource.query<[Taken[], number]>(TAKE);
    await Promise.all(taken.map((erasure) => this.advance(erasure)));
    // Nothing is taken while another replica takes the same erasures.
    return taken.length > 0 ? 0 : RETRY_MS;
  }

  private async advance({
    id,
    account_id: account,
    kind,
    subject: value,
    round,
    last_round: lastRound,
    done,
  }: Taken): Promise<void> {
    const finished = new Set(done);
    const sendRequest = async (app: keyof typeof ERASE, erasure: Erasure): Promise<void> => {
      if (finished.has(app) || this.loop.isStopping) return;
      try {
        if ((await this.rpc.request(ERASE[app], erasure, REQUEST_TIMEOUT_MS)).isDone) finished.add(app);
      } catch (err) {
        // Debug only, because it repeats every second; a metric shows erasures that take too long.
        this.logger.debug({ err, erasure: id, app }, 'an erasure is delayed, retrying');
      }
    };
    try {
      const standIns = await this.rpc.request(BEGIN_ERASURE, { account, kind, value }, REQUEST_TIMEOUT_MS);
      const erasure: Erasure = { id, account, kind, value, round, ...standIns };
      await Promise.all(OTHERS.map((app) => sendRequest(app, erasure)));
      await sendRequest(EVENT_STORE, erasure);
    } catch (err) {
      this.logger.debug({ err, erasure: id }, 'an erasure is delayed, retrying');
    }
    const isComplete = finished.size === OTHERS.length + 1;
    if (!isComplete) await this.dataSource.query(RECORD_PROGRESS, [id, round, [...finished]]);
    else if (round < lastRound) await this.dataSource.query(NEXT_ROUND, [id, round]);
    else await this.dataSource.query(COMPLETE, [id, round]);
  }
}
