import type { EventType, FeedEvent } from '@perkway/domain';

/** The columns of `events` from which `toEvent` makes an event as clients see it. */
export const EVENT_COLUMNS = 'position, id, type, occurred_at, subject, data, erased';

/**
 * Common table expressions of the feed of the account $1, after `with recursive`: `head` has the position before the
 * oldest event and the last one; the highest `low` of `search` is the last position that was stored before the time.
 * Positions have no gaps and the times never decrease, so a binary search needs no index of its own.
 */
export const searchTime = (time: string): string => `
  head as (
    select last_position as last,
      coalesce((select position from events where account_id = $1 order by position limit 1) - 1, last_position) as first
    from feeds where account_id = $1
    union all select 0, 0 where not exists (select from feeds where account_id = $1)
  ), search (low, high) as (
    select first, last from head where ${time} is not null
    union all
    select case when is_before then middle else low end, case when is_before then high else middle - 1 end
    from (select low, high, (low + high + 1) / 2 as middle from search where low < high) s
    cross join lateral (
      select stored_at < ${time} as is_before from events where account_id = $1 and position = middle limit 1) e
  )`;

export interface EventRow {
  /** A bigint, which the driver reads as text. */
  position: string;
  id: string;
  type: EventType;
  occurred_at: Date;
  subject: string;
  data: Record<string, unknown>;
  erased: boolean;
}

export const toEvent = ({ id, type, occurred_at, subject, data, erased }: EventRow): FeedEvent => ({
  id,
  type,
  occurred_at: occurred_at.toISOString(),
  subject,
  data,
  ...(erased ? { erased } : {}),
});
