import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  EVENT_TYPES,
  invalidField,
  lastOf,
  type Caller,
  type EventType,
  type FeedEvent,
} from '@perkway/domain';
import { CursorSealer, ENV, readTime, type ListQuery } from '@perkway/platform';
import { hkdfSync } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { EventsEnv } from '../env.js';
import { EVENT_COLUMNS, searchTime, toEvent, type EventRow } from './feed-rows.js';
import { FeedWatch } from './feed-watch.js';

/** Event ids are not longer than this. */
const MAX_ID_LENGTH = 64;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_WAIT_S = 20;
const AHEAD =
  'The cursor is ahead of the feed, which was restored from a backup. Read again with `from`: the ids of events are the same';
/** Maximum number of positions that a request with `types` scans. The next request continues after them. */
const MAX_SCAN = 10_000;

/**
 * Reads a page in one statement, so that retention cannot delete events in between. `start` is the position to read
 * after: the later one of the cursor $2 and the time $3, or else the one before the oldest event. Without events, returns
 * one row, with nulls in their place.
 */
const READ = `
  with recursive ${searchTime('$3::timestamptz')}, page as (
    select first, last, found is not null and found = last as is_ahead,
      coalesce(greatest($2::bigint, nullif(found, first)), first) as start
    from head, (select max(low) as found from search) s
  )
  select p.first::float8, p.last::float8, p.start::float8, p.is_ahead, e.*
  from page p left join lateral (
    select ${EVENT_COLUMNS} from events
    where account_id = $1 and position > p.start and ($4::text[] is null or position <= p.start + ${MAX_SCAN} and type = any ($4))
    order by position limit $5
  ) e on true
  order by e.position`;

type ReadRow = {
  first: number;
  last: number;
  start: number;
  /** True if no event is stored at or after the time yet. */
  is_ahead: boolean;
} & (EventRow | { [Column in keyof EventRow]: null });

export interface FeedPage {
  data: FeedEvent[];
  next_cursor: string;
  has_more: boolean;
}

interface FeedQuery {
  cursor?: number;
  from?: string;
  types: EventType[] | null;
  limit: number;
  waitMs: number;
}

@Injectable()
export class FeedService {
  private readonly cursors: CursorSealer;

  constructor(
    private readonly dataSource: DataSource,
    private readonly watch: FeedWatch,
    @Inject(ENV) { API_KEY_PEPPER }: EventsEnv,
  ) {
    this.cursors = new CursorSealer(
      Buffer.from(hkdfSync('sha256', API_KEY_PEPPER, '', 'perkway/feed/v1', 32)),
    );
  }

  /**
   * Returns the events after the cursor, in stored order.
   *
   * @throws ApiError VALIDATION_FAILED, CURSOR_EXPIRED
   */
  async list({ account }: Caller, query: ListQuery, gone: AbortSignal): Promise<FeedPage> {
    const read = this.readQuery(account, query);
    // Not AbortSignal.timeout(): Node 20 collects it as garbage while it is only part of another signal.
    const waited = new AbortController();
    const timer = setTimeout(() => waited.abort(), read.waitMs);
    try {
      return await this.waitForPage(
        account,
        read,
        AbortSignal.any([gone, this.watch.stopped, waited.signal]),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  private async waitForPage(
    account: string,
    { cursor, from, types, limit, waitMs }: FeedQuery,
    signal: AbortSignal,
  ): Promise<FeedPage> {
    let position = cursor;
    for (;;) {
      const rows = await this.dataSource.query<ReadRow[]>(READ, [account, position, from, types, limit + 1]);
      const { first, last, start, is_ahead: isAhead } = rows[0]!;
      if (start < first) throw new ApiError('CURSOR_EXPIRED');
      if (start > last) throw new ApiError('CURSOR_EXPIRED', AHEAD);
      const events = rows.filter((row): row is ReadRow & EventRow => row.id !== null);
      const shown = events.slice(0, limit);
      const isCut = events.length > limit;
      const end = types ? Math.min(last, start + MAX_SCAN) : last;
      position = isCut ? Number(shown.at(-1)!.position) : end;
      const hasMore = isCut || end < last;
      if (shown.length > 0 || hasMore || waitMs === 0 || signal.aborted)
        return {
          data: shown.map(toEvent),
          next_cursor: this.cursors.seal(['events', account], isAhead ? [position, from!] : [position]),
          has_more: hasMore,
        };
      await this.watch.until(account, position, signal);
    }
  }

  /** @throws ApiError EVENT_NOT_FOUND */
  async get({ account }: Caller, eventId: string): Promise<FeedEvent> {
    const rows: EventRow[] =
      eventId.length > MAX_ID_LENGTH || eventId.includes('\0')
        ? []
        : await this.dataSource.query(
            `select ${EVENT_COLUMNS} from events where account_id = $1 and id = $2`,
            [account, eventId],
          );
    if (!rows[0]) throw new ApiError('EVENT_NOT_FOUND');
    return toEvent(rows[0]);
  }

  private readQuery(account: string, query: ListQuery): FeedQuery {
    const given = (name: string) => lastOf(query[name]);
    const cursor = given('cursor');
    const from = given('from');
    if (cursor !== undefined && from !== undefined)
      throw invalidField('from', 'must not be sent together with cursor');
    const [position, time] =
      cursor === undefined ? [] : (this.cursors.open(['events', account], cursor) ?? []);
    if (cursor !== undefined && typeof position !== 'number')
      throw invalidField('cursor', 'must be a next_cursor of this feed');
    return {
      cursor: position as number | undefined,
      from: from === undefined ? (time as string | undefined) : readTime('from', from).toISOString(),
      types: readTypes(given('types')),
      limit: readInteger('limit', given('limit'), 1, MAX_LIMIT, DEFAULT_LIMIT),
      waitMs: readInteger('wait', given('wait'), 0, MAX_WAIT_S, 0) * 1_000,
    };
  }
}

function readInteger(name: string, value: unknown, min: number, max: number, absent: number): number {
  if (value === undefined) return absent;
  const number = typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : -1;
  if (number < min || number > max) throw invalidField(name, `must be a whole number from ${min} to ${max}`);
  return number;
}

function readTypes(value: unknown): EventType[] | null {
  if (value === undefined) return null;
  const types = String(value).split(',');
  const unknown = types.find((type) => !(EVENT_TYPES as readonly string[]).includes(type));
  if (unknown !== undefined)
    throw invalidField('types', `must be a comma-separated list of event types: ${EVENT_TYPES.join(', ')}`);
  return types as EventType[];
}
