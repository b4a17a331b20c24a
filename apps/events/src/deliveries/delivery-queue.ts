import { Injectable } from '@nestjs/common';
import type { EventType } from '@perkway/domain';
import { DataSource, type EntityManager } from 'typeorm';
import type { Backlog } from './delivery-metrics.js';

/**
 * Maximum number of pending deliveries of one webhook. Later events wait in the feed, so that the queue of a webhook
 * that fails for days stays small enough to be ended in one statement.
 */
export const MAX_PENDING = 5_000;
/**
 * Maximum webhooks and deliveries per statement that creates deliveries. Each failure halves the number of deliveries.
 */
const FAN_OUT_WEBHOOKS = 20;
const FAN_OUT_ROWS = 2_000;
/** Longer than an attempt takes. Other replicas take over the attempts of a dead replica after this time. */
const LEASE_MS = 30_000;
const FAILING_LIMIT_MS = 5 * 86_400_000;
/** Attempts that every webhook may make beyond the limit of its account: at most 60 more per account. */
const RESERVED_ATTEMPTS = 3;
/** Concurrent attempts of pings and single retries of one webhook, in addition to the limits of webhook and account. */
const REQUESTED_ATTEMPTS = 4;
const RETENTION_BATCH = 5_000;
/** The metric stops counting pending deliveries at this number. */
const MAX_COUNTED = 100_000;

export const GONE = 'The receiver responded with 410 Gone';
const FAILED_FOR_DAYS = 'No delivery succeeded for five days';

/** How much a replica may claim. */
export interface ClaimLimits {
  /** Maximum number of deliveries to claim. */
  total: number;
  /** Maximum per webhook that is not in `room`. */
  perWebhook: number;
  /** Maximum number of attempts per account, including running ones, in addition to those reserved for each webhook. */
  perAccount: number;
  /** Maximum number of deliveries to claim for extra attempts, those of a webhook beyond `perWebhook`. */
  totalExtra: number;
  /** An account gets extra attempts only up to this number of attempts, including running ones. */
  perAccountWithExtra: number;
  /** Numbers of further and of running attempts, by the key of the webhook. */
  room: ReadonlyMap<string, { more: number; running: number }>;
  /**
   * Number of running attempts, by account, without requested ones and up to `perWebhook` of each webhook. Accounts
   * with fewer of them go first.
   */
  running: ReadonlyMap<string, number>;
  /** The same, including extra attempts. */
  runningWithExtra: ReadonlyMap<string, number>;
}

/** A delivery with its webhook and its event. */
export interface ClaimedDelivery {
  id: string;
  event_id: string;
  type: EventType;
  occurred_at: Date;
  subject: string;
  /** JSON, as it is sent. */
  data: string;
  erased: boolean;
  attempts: number;
  /** A client asked for it: a ping or a single retry. */
  requested: boolean;
  /** A bigint; null if the webhook is not ordered. */
  subject_hash: string | null;
  /** End of the lease, which proves the claim. */
  lease: Date;
  webhook: string;
  account_id: string;
  webhook_id: string;
  url: string;
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_until: Date | null;
  /** False for an event that retention has deleted. */
  is_stored: boolean;
}

export interface DeliveryResult {
  delivery: ClaimedDelivery;
  isSuccess: boolean;
  status: number | null;
  error: string | null;
  /** Null if no further attempt is made. */
  nextAttemptAt: Date | null;
}

interface Subject {
  webhook: string;
  hash: string | null;
}

export interface DisabledWebhook {
  account_id: string;
  id: string;
  disabled_reason: string;
}

/**
 * True if an earlier delivery of the same subject as that of the row named `d` is pending, else null. A join could read
 * every delivery of the webhook.
 */
export const EARLIER = `(
  select true from deliveries e
  where e.webhook = d.webhook and e.subject_hash = d.subject_hash and e.state = 'pending' and e.position < d.position
  order by e.position limit 1)`;

/** SQL of the hash of the subject of delivery `p`; null if it has none. */
export const subjectHashOf = (account: string) =>
  `hashtextextended((select e.subject from events e where e.account_id = ${account} and e.position = p.position), 0)`;

/** Inserts deliveries of the feed rows in `fresh`. The caller appends what to do on a conflict. */
const INSERT = (condition: string) => `
  insert into deliveries (webhook, event_id, position, type, subject_hash, held, next_attempt_at, created_at)
  select webhook, event_id, position, type, subject_hash,
    subject_hash is not null and (
      row_number() over (partition by webhook, subject_hash order by position) > 1 or ${EARLIER} is true), $3, $3
  from (
    select w.key as webhook, f.id as event_id, f.position, f.type,
      case when w.ordered then hashtextextended(f.subject, 0) end as subject_hash
    from fresh f join target w on w.key = f.webhook
    where (w.types is null or f.type = any(w.types)) and ${condition}
  ) d
  order by webhook, position
  on conflict (webhook, event_id)`;

/** For each webhook in `target`, the feed rows after `from_position`, limited by $4 and by the room in its queue. */
const FRESH = (until: string) => `
  select t.key as webhook, e.position, e.id, e.type, e.subject, e.occurred_at
  from target t cross join lateral (
    select * from events
    where account_id = t.account_id and position > t.from_position and position <= ${until}
    order by position
    limit least($4::int, greatest(0, $2::int - (
      select count(*) from deliveries where webhook = t.key and state = 'pending')))
  ) e`;

const FAN_OUT = `
  with target as (select *, position as from_position from webhooks where key = any($1)),
  fresh as (${FRESH('9223372036854775807')}),
  made as (
    -- Leaves out what a replay has already inserted: if that was delivered, it must not hold back later events.
    ${INSERT(`f.occurred_at >= w.enabled_at and not (w.ordered and exists (
      select from deliveries x where x.webhook = w.key and x.event_id = f.id))`)} do nothing
  ), ends as (
    select webhook, count(*)::int as read, max(position) as position from fresh group by webhook
  ), moved as (
    update webhooks set position = ends.position from ends where key = ends.webhook
  )
  select coalesce(max(read), 0) as read from ends`;

const FAN_OUT_REPLAY = `
  with target as (
    select w.*, r.position as from_position, r.until_position, r.from_time, r.to_time
    from webhooks w join webhook_replays r on r.webhook = w.key
    where w.key = any($1) and r.id = $5
  ), fresh as (${FRESH('t.until_position')}),
  made as (
    ${INSERT('f.occurred_at between w.from_time and w.to_time')} do update
    set state = 'pending', attempts = 0, next_attempt_at = $3, delivered_at = null,
      last_status = null, last_error = null, subject_hash = excluded.subject_hash, held = excluded.held
    where deliveries.state <> 'pending'
  ), moved as (
    update webhook_replays set position = (select max(position) from fresh)
    where id = $5 and exists (select from fresh)
  )
  select count(*)::int as read from fresh`;

/**
 * The body of the recursive expression `busy`: selects webhooks with pending deliveries, with one index lookup each.
 */
const BUSY = `
  (select webhook from deliveries where state = 'pending' order by webhook limit 1)
  union all
  select (
    select d.webhook from deliveries d
    where d.state = 'pending' and d.webhook > busy.webhook order by d.webhook limit 1)
  from busy where busy.webhook is not null`;

/** Selects enabled webhooks that are behind their feed, and replays. */
const BEHIND = `
  select w.key, null as replay from webhooks w join feeds f using (account_id)
  where w.enabled and w.position < f.last_position
  union all
  select webhook, id from webhook_replays
  order by replay nulls first, key`;

const END_REPLAY = `
  delete from webhook_replays r using webhooks w
  where r.id = $1 and w.key = r.webhook and not exists (
    select from events e
    where e.account_id = w.account_id and e.position > r.position and e.position <= r.until_position)`;

/** The table `deliveries`: a durable queue per webhook (docs/adr/0040-webhook-deliveries.md). */
@Injectable()
export class DeliveryQueue {
  private fanOutRows = FAN_OUT_ROWS;

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Creates the deliveries of new events and of replays. The same statement advances the position, so a crash neither
   * loses nor repeats any.
   *
   * @returns `wasBehind` if a webhook was behind its feed or had a replay; `hasMore` if another call can create more
   * deliveries now, so not while the queue is full or another replica has locked the webhook
   */
  async fanOut(now: Date): Promise<{ wasBehind: boolean; hasMore: boolean }> {
    const behind: { key: string; replay: string | null }[] = await this.dataSource.query(BEHIND);
    const keys = behind.filter(({ replay }) => replay === null).map(({ key }) => key);
    let hasMore = false;
    for (let from = 0; from < keys.length; from += FAN_OUT_WEBHOOKS) {
      const { read, limit } = await this.fanOutTo(keys.slice(from, from + FAN_OUT_WEBHOOKS), FAN_OUT, now);
      hasMore ||= read === limit;
    }
    for (const { key, replay } of behind) {
      if (replay === null) continue;
      const { read } = await this.fanOutTo([key], FAN_OUT_REPLAY, now, replay);
      if (read === 0) await this.dataSource.query(END_REPLAY, [replay]);
      hasMore ||= read > 0;
    }
    return { wasBehind: behind.length > 0, hasMore };
  }

  /**
   * Runs a statement for those webhooks that are enabled and not locked by another transaction. Locks them first, in a
   * separate statement, so that no delivery of an ordered webhook that `statement` sees as pending ends before the
   * commit. If one does, because its webhook became ordered during the attempt, `record` releases those that wait for it.
   *
   * @returns the largest number of rows that it read for one webhook, and the limit of that number
   */
  private async fanOutTo(webhooks: string[], statement: string, now: Date, ...more: unknown[]) {
    const limit = Math.max(1, Math.floor(this.fanOutRows / webhooks.length));
    try {
      const read = await this.dataSource.transaction(async (manager) => {
        const locked: { key: string }[] = await manager.query(
          'select key from webhooks where key = any($1) and enabled order by key for update skip locked',
          [webhooks],
        );
        if (locked.length === 0) return 0;
        const [made]: [{ read: number }] = await manager.query(statement, [
          locked.map(({ key }) => key),
          MAX_PENDING,
          now,
          limit,
          ...more,
        ]);
        return made.read;
      });
      this.fanOutRows = Math.min(FAN_OUT_ROWS, this.fanOutRows + Math.ceil(this.fanOutRows / 16));
      return { read, limit };
    } catch (error) {
      // The statement may have timed out, and would time out again.
      this.fanOutRows = Math.max(1, this.fanOutRows >> 1);
      throw error;
    }
  }

  /**
   * Claims due deliveries with a lease: of each webhook the first ones within the limits, and those that clients
   * requested. If the webhook is ordered, only the earliest pending delivery of a subject can be claimed: `held` skips
   * most of the others quickly, and the condition EARLIER all of them.
   */
  async claim(now: Date, limits: ClaimLimits): Promise<ClaimedDelivery[]> {
    const { total, totalExtra, perWebhook, perAccount, perAccountWithExtra } = limits;
    const { room, running, runningWithExtra } = limits;
    const lease = new Date(now.getTime() + LEASE_MS);
    const claimable = (requested: boolean) => `
      d.webhook = w.key and d.state = 'pending' and not d.held and ${requested ? '' : 'not'} d.requested
        and d.next_attempt_at <= $1`;
    const isFree = `(d.lease_until is null or d.lease_until <= $1) and (d.subject_hash is null or ${EARLIER} is null)`;
    const claimed: ClaimedDelivery[] = await this.dataSource.query(
      `with recursive busy as (
         ${BUSY}
       ), due as materialized (
         -- Deliveries that may be attempted now, within the limits of each webhook. A webhook with less room ranks its
         -- deliveries as if its running attempts came first.
         select w.account_id, d.ctid, d.requested,
           d.rank + greatest(coalesce(r.running, 0), $3 - coalesce(r.more, $3)) as webhook_rank
         from busy join webhooks w on w.key = busy.webhook
         left join unnest($4::bigint[], $5::int[], $10::int[]) as r (key, more, running) on r.key = w.key
         cross join lateral (
           -- The first ones of the queue.
           select first.ctid, false as requested, row_number() over () as rank from (
             select ctid from deliveries d where ${claimable(false)} and ${isFree}
             order by next_attempt_at, id
             limit coalesce(r.more, $3)
             for update skip locked
           ) first
           union all
           -- Pings and single retries, beside the limits of webhook and account.
           select asked.ctid, true, 0 from (
             select ctid from deliveries d
             where webhook = w.key and ${isFree} and id = any(array(
               select id from deliveries d where ${claimable(true)}
               order by next_attempt_at, id limit ${REQUESTED_ATTEMPTS}))
             for update skip locked
           ) asked
         ) d
       ), picked as (
         -- Within the limits of each account. Requested ones first, then those of accounts with the fewest attempts, then
         -- those that only fast webhooks may have.
         select ctid from (
           select due.*, webhook_rank > $3 as is_extra,
             row_number() over (partition by account_id, webhook_rank > $3 order by webhook_rank) as account_rank,
             row_number() over (partition by webhook_rank > $3 order by webhook_rank) as rank
           from due
         ) ranked
         left join unnest($6::text[], $7::int[]) as a (account, running) on a.account = account_id
         left join unnest($11::text[], $12::int[]) as b (account, running_with_extra) on b.account = account_id
         where requested or case
           when is_extra then rank <= $14 and coalesce(running_with_extra, 0) + account_rank <= $13
           else coalesce(running, 0) + account_rank <= $9 or webhook_rank <= ${RESERVED_ATTEMPTS}
         end
         order by requested desc, is_extra, coalesce(running, 0) + account_rank
         limit $8
       ), claimed as (
         update deliveries set lease_until = $2 where ctid = any(array(select ctid from picked)) returning *
       ), commit as materialized (
         -- The claim does not wait for its commit to be durable: if a crash loses it, the deliveries are claimed again.
         select set_config('synchronous_commit', 'off', true)
       )
       -- With webhook and event. A ping has no event in the feed.
       select c.id, c.event_id, c.type, c.attempts, c.requested, c.subject_hash, c.webhook,
         w.account_id, w.id as webhook_id, w.url, w.secret, w.previous_secret, w.previous_secret_until,
         c.position is null or e.position is not null as is_stored,
         coalesce(e.occurred_at, c.created_at) as occurred_at,
         coalesce(e.subject, 'webhook/' || w.id) as subject,
         coalesce(e.data, jsonb_build_object('webhook_id', w.id))::text as data,
         coalesce(e.erased, false) as erased
       from claimed c cross join commit join webhooks w on w.key = c.webhook
       left join lateral (
         select * from events where account_id = w.account_id and position = c.position limit 1
       ) e on true
       order by c.id`,
      [
        now,
        lease,
        perWebhook,
        [...room.keys()],
        [...room.values()].map(({ more }) => more),
        [...running.keys()],
        [...running.values()],
        total,
        perAccount,
        [...room.values()].map((each) => each.running),
        [...runningWithExtra.keys()],
        [...runningWithExtra.values()],
        perAccountWithExtra,
        totalExtra,
      ],
    );
    for (const delivery of claimed) delivery.lease = lease;
    return claimed;
  }

  /** Returns the first time after `now` at which a delivery is due, or undefined. */
  async nextDue(now: Date): Promise<Date | undefined> {
    const [{ next }]: [{ next: Date | null }] = await this.dataSource.query(
      `with recursive busy as (${BUSY})
       select min(d.next_attempt_at) as next from busy cross join lateral (
         select next_attempt_at from deliveries
         where webhook = busy.webhook and state = 'pending' and not held and not requested and next_attempt_at > $1
         order by next_attempt_at limit 1) d`,
      [now],
    );
    return next ?? undefined;
  }

  /**
   * Stores the results of attempts. Ignores a failure if the delivery was claimed again, retried or ended since.
   *
   * @returns the webhooks that these results disabled
   */
  async record(results: readonly DeliveryResult[], now: Date): Promise<DisabledWebhook[]> {
    const keysOf = (chosen: readonly DeliveryResult[]) => [
      ...new Set(chosen.map(({ delivery }) => delivery.webhook)),
    ];
    const succeeded = keysOf(results.filter(({ isSuccess }) => isSuccess));
    const failed = keysOf(results).filter((key) => !succeeded.includes(key));
    const gone = new Map(
      results.filter(({ status }) => status === 410).map(({ delivery }) => [delivery.webhook, delivery.url]),
    );
    const ordered = keysOf(results.filter(({ delivery }) => delivery.subject_hash !== null));
    const since = new Date(now.getTime() - FAILING_LIMIT_MS);
    const unreleased: Subject[] = [];
    const disabled = await this.dataSource.transaction(async (manager) => {
      // Every transaction locks webhooks before deliveries, both in the order of their keys.
      const locked: { key: string }[] = await manager.query(
        `select key from webhooks
         where key = any($1::bigint[]) and (
           key = any($2::bigint[]) or key = any($3::bigint[]) and failing_since is not null
           or key = any($4::bigint[]) and (failing_since is null or failing_since <= $5))
         order by key for update`,
        [keysOf(results), [...ordered, ...gone.keys()], succeeded, failed, since],
      );
      const [ended] = await manager.query<[Subject[], number]>(
        `with r as (
           select * from unnest(
             $1::bigint[], $2::timestamptz[], $3::boolean[], $4::int[], $5::text[], $6::timestamptz[], $8::text[], $9::bigint[])
             as r (id, lease, success, status, error, next, account, webhook)
         ), locked as materialized (
           -- In key order, so that two replicas do not deadlock.
           select d.webhook, d.id from deliveries d join r using (webhook, id)
           order by d.webhook, d.id for update of d
         )
         -- A result counts while its lease is the current one; a success counts always.
         update deliveries d
         set attempts = d.attempts + 1, last_status = r.status,
           last_error = case when r.error is not null and not exists (
             select from events e where e.account_id = r.account and e.position = d.position and e.erased) then r.error end,
           state = case when r.success then 'delivered' when r.next is null then 'failed' else 'pending' end,
           next_attempt_at = coalesce(r.next, d.next_attempt_at),
           lease_until = null, requested = false,
           delivered_at = case when r.success then $7::timestamptz end
         from r join locked using (webhook, id)
         where d.webhook = r.webhook and d.id = r.id and d.state <> 'delivered'
           and (r.success or d.state = 'pending' and d.lease_until = r.lease)
         returning d.webhook, d.subject_hash as hash`,
        [
          results.map(({ delivery }) => delivery.id),
          results.map(({ delivery, isSuccess }) => (isSuccess ? null : delivery.lease)),
          results.map(({ isSuccess }) => isSuccess),
          results.map(({ status }) => status),
          results.map(({ error }) => error),
          results.map(({ nextAttemptAt }) => nextAttemptAt),
          now,
          results.map(({ delivery }) => delivery.account_id),
          results.map(({ delivery }) => delivery.webhook),
        ],
      );
      const keys = new Set(locked.map(({ key }) => key));
      const subjects = ended.filter(({ hash }) => hash !== null);
      await this.release(
        manager,
        subjects.filter(({ webhook }) => keys.has(webhook)),
      );
      unreleased.push(...subjects.filter(({ webhook }) => !keys.has(webhook)));
      if (keys.size === 0) return [];
      await manager.query(
        `update webhooks set failing_since = case when key = any($3::bigint[]) then $2::timestamptz end
         where key = any($1::bigint[]) and (failing_since is null) = (key = any($3::bigint[]))`,
        [[...keys], now, failed],
      );
      const ends: DisabledWebhook[] = [];
      for (const key of keys) {
        const url = gone.get(key);
        if (url !== undefined) ends.push(...(await this.disable(manager, key, GONE, now, 'url = $4', url)));
        if (failed.includes(key))
          ends.push(
            ...(await this.disable(manager, key, FAILED_FOR_DAYS, now, 'failing_since <= $4', since)),
          );
      }
      return ends;
    });
    // The webhooks of these deliveries became ordered during the attempts, so they were not locked above.
    if (unreleased.length > 0)
      await this.dataSource.transaction(async (manager) => {
        await manager.query('select from webhooks where key = any($1::bigint[]) order by key for update', [
          unreleased.map(({ webhook }) => webhook),
        ]);
        await this.release(manager, unreleased);
      });
    return disabled;
  }

  /** Makes the first pending delivery of each subject claimable. The caller has the rows of the webhooks locked. */
  private async release(manager: EntityManager, subjects: readonly Subject[]): Promise<void> {
    if (subjects.length === 0) return;
    await manager.query(
      `update deliveries d set held = false
       from (select distinct webhook, hash from unnest($1::bigint[], $2::bigint[]) as s (webhook, hash)) s
       cross join lateral (
         select h.id, h.held from deliveries h
         where h.webhook = s.webhook and h.subject_hash = s.hash and h.state = 'pending'
         order by h.position limit 1
       ) head
       where d.webhook = s.webhook and d.id = head.id and head.held`,
      [subjects.map(({ webhook }) => webhook), subjects.map(({ hash }) => hash)],
    );
  }

  /** Releases held deliveries whose predecessor was ended by a replica of an earlier release, which releases none. */
  async releaseForgotten(): Promise<void> {
    await this.dataSource.query(
      `update deliveries set held = false where (webhook, id) in (
         select d.webhook, d.id from deliveries d where d.state = 'pending' and d.held and ${EARLIER} is null
         for update skip locked)`,
    );
  }

  /** Applies a changed `ordered` to pending deliveries. The caller has the row of the webhook locked. */
  async setOrdered(
    manager: EntityManager,
    webhook: string,
    account: string,
    ordered: boolean,
  ): Promise<void> {
    await this.lockPending(manager, webhook);
    await manager.query(
      // Materialized: without statistics of a new webhook, the plan could join all its deliveries with each other.
      `with pending as materialized (
         select p.webhook, p.id, p.position, case when $3 then ${subjectHashOf('$2')} end as hash
         from deliveries p where p.webhook = $1 and p.state = 'pending'
       )
       update deliveries d set subject_hash = n.hash, held = n.hash is not null and n.place > 1
       from (
         select webhook, id, hash, row_number() over (partition by hash order by position) as place from pending
       ) n
       where d.webhook = n.webhook and d.id = n.id`,
      [webhook, account, ordered],
    );
  }

  /** Ends the pending deliveries of a webhook that was disabled or deleted. The caller has its row locked. */
  async endPending(manager: EntityManager, webhook: string): Promise<void> {
    await manager.query('delete from webhook_replays where webhook = $1', [webhook]);
    await this.lockPending(manager, webhook);
    await manager.query(`update deliveries set state = 'failed' where webhook = $1 and state = 'pending'`, [
      webhook,
    ]);
  }

  /** Ends the deliveries of a deleted webhook, and clears their errors, because an erasure can no longer find them. */
  async endAll(manager: EntityManager, webhook: string): Promise<void> {
    await this.endPending(manager, webhook);
    await manager.query(
      `update deliveries set last_error = null
       where webhook = $1 and state = 'failed' and last_error is not null`,
      [webhook],
    );
  }

  /**
   * Locks the pending deliveries, so that the next statement sees which of them `record` ended. Uses the order of
   * `record`, so that the two do not deadlock.
   */
  private async lockPending(manager: EntityManager, webhook: string): Promise<void> {
    await manager.query(
      `select from deliveries where webhook = $1 and state = 'pending' order by id for update`,
      [webhook],
    );
  }

  private async disable(
    manager: EntityManager,
    key: string,
    reason: string,
    now: Date,
    condition: string,
    value: unknown,
  ): Promise<DisabledWebhook[]> {
    const [disabled]: [DisabledWebhook[], number] = await manager.query(
      `update webhooks
       set enabled = false, disabled_at = $2, disabled_reason = $3,
         updated_at = greatest($2, updated_at + interval '1 millisecond')
       where key = $1 and enabled and ${condition}
       returning account_id, id, disabled_reason`,
      [key, now, reason, value],
    );
    if (disabled.length > 0) await this.endPending(manager, key);
    return disabled;
  }

  async backlog(now: Date): Promise<Backlog> {
    const [backlog]: [Backlog] = await this.dataSource.query(
      `select
         (select count(*) from (
           select from deliveries where state = 'pending' limit ${MAX_COUNTED}) p)::int as pending,
         (select count(*) from webhooks where enabled and failing_since is not null)::int as failing,
         greatest(0, coalesce((
           select max(extract(epoch from $1 - d.next_attempt_at))
           from webhooks w cross join lateral (
             select next_attempt_at from deliveries
             where webhook = w.key and state = 'pending' and not held and not requested
               and (lease_until is null or lease_until <= $1)
             order by next_attempt_at limit 1) d
           where w.enabled and w.failing_since is null), 0))::float8 as "overdueS"`,
      [now],
    );
    return backlog;
  }

  /** Deletes deliveries that have ended and were created before `time`. */
  async deleteBefore(time: Date): Promise<void> {
    for (let deleted = 1; deleted > 0;)
      [, deleted] = await this.dataSource.query<[unknown, number]>(
        `with recursive known as (
           (select webhook from deliveries order by webhook limit 1)
           union all
           select (select d.webhook from deliveries d where d.webhook > known.webhook order by d.webhook limit 1)
           from known where known.webhook is not null
         ), old as (
           select d.webhook, d.id from known cross join lateral (
             select * from deliveries where webhook = known.webhook and state <> 'pending'
             order by id limit ${RETENTION_BATCH}
           ) d
           where d.created_at < $1 limit ${RETENTION_BATCH}
         )
         delete from deliveries where (webhook, id) in (
           select d.webhook, d.id from deliveries d join old using (webhook, id) for update of d skip locked)`,
        [time],
      );
  }
}
