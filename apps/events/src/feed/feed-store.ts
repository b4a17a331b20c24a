import { Injectable } from '@nestjs/common';
import {
  isDerivedJourneyId,
  isStandIn,
  withoutPerson,
  type FeedEvent,
  type TrackingEvent,
} from '@perkway/domain';
import { copyIn, sqlStateOf } from '@perkway/platform';
import type { PoolClient } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { PersonKeys } from './person-keys.js';
import { toFeedEvent } from './to-feed-event.js';

/** An event that the feed may not have yet. */
export interface NewRow {
  account: string;
  event: FeedEvent;
  /** Undefined if the event has no journey id of its own. */
  journey: string | undefined;
  /** The feed stores one conversion per key. Undefined for other events, and for conversions without an external id. */
  externalKey: string | undefined;
  /** The event as it was published. */
  source: TrackingEvent;
}

interface FeedEnd {
  account_id: string;
  last: number;
  now: string;
}

const ADD_FEEDS = `
  insert into feeds (account_id) select id from unnest($1::text[]) id order by id on conflict do nothing`;
/**
 * Locks the feeds, so that transactions assign positions one after the other, and positions become visible in order.
 * The times of a feed never decrease, even if the clock does; they are text, which keeps their microseconds.
 */
const LOCK_FEEDS = `
  select account_id, last_position::float8 as last, greatest(stored_at, clock_timestamp())::text as now
  from feeds where account_id = any ($1::text[]) order by account_id for update`;
/**
 * Looks each event up in an index. A join might scan the whole table, because its statistics are old while it grows.
 */
const FIND_STORED = `
  select number::int from unnest($1::text[], $2::text[], $3::text[]) with ordinality n (account_id, id, key, number)
  where (select true from events e where e.account_id = n.account_id and e.id = n.id limit 1)
    or (select true from conversion_keys k where k.account_id = n.account_id and k.key = n.key limit 1)`;
const COPY_EVENTS =
  'copy events (account_id, position, id, type, occurred_at, stored_at, subject, data, erased) from stdin';
const ADD_CONVERSIONS =
  'insert into conversion_keys (account_id, key) select * from unnest($1::text[], $2::text[])';
const MOVE_FEEDS = `
  update feeds f set last_position = n.last, stored_at = n.now
  from unnest($1::text[], $2::bigint[], $3::timestamptz[]) n (account_id, last, now)
  where f.account_id = n.account_id`;

/** Selects the accounts with erased journeys. Most have none, so the journeys of their events are not hashed. */
const ERASED_ACCOUNTS = `
  select id from unnest($1::text[]) id
  where (select true from erased_journeys where account_id = id limit 1)`;
const ERASED_JOURNEYS = `
  select account_id, hash, stand_in from erased_journeys
  where account_id = any ($1::text[]) and hash = any ($2::text[])`;

const UNIQUE_VIOLATION = '23505';

/** Members that name a person. */
export const PERSON_MEMBERS = ['journey_id', 'external_id', 'utm', 'cmeta', 'reference'];

/** Appends events to the feeds of their accounts, each once. */
@Injectable()
export class FeedStore {
  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: PersonKeys,
  ) {}

  async append(given: readonly NewRow[]): Promise<void> {
    const rows = firstOfEach(given);
    if (rows.length === 0) return;
    try {
      await this.store(rows);
    } catch (error) {
      // Nearly all events are new, so stored ones are searched only after a duplicate key.
      if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error;
      await this.store(rows, true);
    }
  }

  private store(rows: readonly NewRow[], skipsStored = false): Promise<void> {
    const accounts = [...new Set(rows.map(({ account }) => account))];
    return this.dataSource.transaction(async (manager) => {
      await manager.query(ADD_FEEDS, [accounts]);
      const feeds = await manager.query<FeedEnd[]>(LOCK_FEEDS, [accounts]);
      const fresh = skipsStored ? await notStored(manager, rows) : rows;
      if (fresh.length === 0) return;
      // After the lock, which an erasure takes too: an event that comes late cannot bring the person back.
      const toStore = await this.withoutErasedPersons(manager, accounts, fresh);
      const ends = new Map(feeds.map((feed) => [feed.account_id, feed]));
      const lines = toStore.map(({ account, event }) => {
        const end = ends.get(account)!;
        end.last += 1;
        return copyLine(account, end.last, event, end.now);
      });
      await copyIn(
        (await manager.queryRunner!.connect()) as PoolClient,
        COPY_EVENTS,
        `${lines.join('\n')}\n`,
      );
      const conversions = toStore.filter(({ externalKey }) => externalKey !== undefined);
      if (conversions.length > 0)
        await manager.query(ADD_CONVERSIONS, [
          conversions.map(({ account }) => account),
          conversions.map(({ externalKey }) => externalKey),
        ]);
      await manager.query(MOVE_FEEDS, [
        feeds.map(({ account_id }) => account_id),
        feeds.map(({ last }) => last),
        feeds.map(({ now }) => now),
      ]);
    });
  }

  private async withoutErasedPersons(
    manager: EntityManager,
    accounts: string[],
    rows: readonly NewRow[],
  ): Promise<readonly NewRow[]> {
    const erasedIn = await manager.query<{ id: string }[]>(ERASED_ACCOUNTS, [accounts]);
    if (erasedIn.length === 0) return rows;
    const ids = new Set(erasedIn.map(({ id }) => id));
    const hashes = rows.map(({ account, journey }) =>
      journey !== undefined && ids.has(account) ? this.keys.journey(account, journey) : undefined,
    );
    const found = await manager.query<{ account_id: string; hash: string; stand_in: string }[]>(
      ERASED_JOURNEYS,
      [[...ids], [...new Set(hashes.flatMap((hash) => hash ?? []))]],
    );
    const standIns = new Map(
      found.map(({ account_id, hash, stand_in }) => [`${account_id}\0${hash}`, stand_in]),
    );
    return rows.map((row, index) => {
      const standIn = standIns.get(`${row.account}\0${hashes[index]}`);
      return standIn === undefined ? row : erase(row, standIn);
    });
  }

  /** Returns the event, without the person if its journey was erased. */
  async withoutErased(event: TrackingEvent): Promise<object> {
    if (!('journey' in event) || event.journey === undefined) return event;
    const [erased] = await this.dataSource.query<{ stand_in: string }[]>(
      'select stand_in from erased_journeys where account_id = $1 and hash = $2',
      [event.account, this.keys.journey(event.account, event.journey)],
    );
    if (!erased) return event;
    const { externalId: _, ...rest } = event as { externalId?: string };
    return withoutPerson(rest, { kind: 'journey_id', standIn: erased.stand_in, secret: '' });
  }

  /** Converts an event to the row that `append` stores; returns undefined for types that are not in the feed. */
  toRow(event: TrackingEvent): NewRow | undefined {
    const mapped = toFeedEvent(event);
    if (!mapped) return undefined;
    const { account } = event;
    const journey = 'journey' in event ? event.journey : undefined;
    const row = {
      account,
      event: mapped,
      journey: journey === undefined || isDerived(event, journey) ? undefined : journey,
      externalKey:
        event.type === 'conversion' && event.externalId !== undefined
          ? this.keys.externalId(account, event.externalId, event.traffic !== undefined)
          : undefined,
      source: event,
    };
    // The journey is a stand-in if the event is a copy from which an erasure has removed the person.
    return journey !== undefined && isStandIn(journey) ? erase(row, journey) : row;
  }
}

/** Returns whether the journey is the one that a campaign's events share if they have none of their own. */
const isDerived = (event: TrackingEvent, journey: string): boolean =>
  'campaign' in event && event.campaign !== undefined && isDerivedJourneyId(journey, event.campaign);

function erase(row: NewRow, standIn: string): NewRow {
  const { subject, data } = row.event;
  return {
    ...row,
    event: {
      ...row.event,
      erased: true,
      subject: subject.startsWith('journey/') ? `journey/${standIn}` : subject,
      data: Object.fromEntries(Object.entries(data).filter(([name]) => !PERSON_MEMBERS.includes(name))),
    },
  };
}

function firstOfEach(rows: readonly NewRow[]): NewRow[] {
  const seenOf = new Map<string, Set<string>>();
  return rows.filter(({ account, event: { id }, externalKey }) => {
    let seen = seenOf.get(account);
    if (!seen) seenOf.set(account, (seen = new Set()));
    // No id contains a null character.
    const key = externalKey === undefined ? undefined : `\0${externalKey}`;
    if (seen.has(id) || (key !== undefined && seen.has(key))) return false;
    seen.add(id);
    if (key !== undefined) seen.add(key);
    return true;
  });
}

async function notStored(manager: EntityManager, rows: readonly NewRow[]): Promise<readonly NewRow[]> {
  const stored = await manager.query<{ number: number }[]>(FIND_STORED, [
    rows.map(({ account }) => account),
    rows.map(({ event }) => event.id),
    rows.map(({ externalKey }) => externalKey),
  ]);
  const numbers = new Set(stored.map(({ number }) => number));
  return rows.filter((_, index) => !numbers.has(index + 1));
}

const copyLine = (account: string, position: number, event: FeedEvent, storedAt: string): string =>
  `${account}\t${position}\t${escaped(event.id)}\t${event.type}\t${event.occurred_at}\t${storedAt}\t` +
  `${escaped(event.subject)}\t${escaped(JSON.stringify(event.data))}\t${event.erased ? 't' : 'f'}`;

const SPECIAL = /[\\\t\n\r]/;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
/** Escapes text for `copy`. */
const escaped = (text: string): string =>
  SPECIAL.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (character) => ESCAPES[character]!) : text;
