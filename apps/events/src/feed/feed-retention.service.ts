import { Inject, Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { ENV, Loop, Loops } from '@perkway/platform';
import { DataSource } from 'typeorm';
import type { EventsEnv } from '../env.js';

const INTERVAL_MS = 10 * 60_000;
const BATCH = 5_000;
const DAY_MS = 86_400_000;

/** Longer than the attempts of a delivery can take: nine retries, each after at most 24 hours. */
const DELIVERY_DAYS = 10;

/**
 * Deletes the events of each account that are older than $1, from the first position on, so that the rest has no gaps. Events
 * that are not older than $2 stay while a webhook needs them.
 */
const DELETE = `
  with due as (
    select f.account_id, e.position
    from feeds f cross join lateral (
      select position, stored_at from events where account_id = f.account_id order by position limit ${BATCH}) e
    where (select stored_at from events where account_id = f.account_id order by position limit 1) < $1
      and e.stored_at < $1
      and (e.stored_at < $2 or e.position < coalesce((
        select min(least(w.position,
          (select min(position) from webhook_replays where webhook = w.key),
          (select min(position) - 1 from deliveries where webhook = w.key and state = 'pending')))
        from webhooks w where w.account_id = f.account_id and w.enabled), f.last_position) + 1)
    limit ${BATCH}
  ), ends as (select account_id, max(position) as position from due group by account_id)
  delete from events e using ends where e.account_id = ends.account_id and e.position <= ends.position`;

/** Deletes events that are older than EVENTS_RETENTION_DAYS. */
@Injectable()
export class FeedRetention {
  private readonly loop: Loop;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: EventsEnv,
    loops: Loops,
  ) {
    const run = () => this.deleteExpired(Date.now());
    this.loop = loops.add({ task: 'delete old events', everyMs: INTERVAL_MS, run });
  }

  /** Deletes events that are too old at this time, in batches. */
  async deleteExpired(now: number): Promise<void> {
    const days = this.env.EVENTS_RETENTION_DAYS;
    const times = [days, Math.max(days, DELIVERY_DAYS)].map((age) => new Date(now - age * DAY_MS));
    for (let deleted = BATCH; deleted >= BATCH && !this.loop.isStopping;)
      deleted = await this.dataSource.transaction(async (manager) => {
        const [{ isMine }] = await manager.query<[{ isMine: boolean }]>(
          `select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.feedRetention}) as "isMine"`,
        );
        if (!isMine) return 0;
        const [, count] = await manager.query<[unknown, number]>(DELETE, times);
        return count;
      });
  }
}
