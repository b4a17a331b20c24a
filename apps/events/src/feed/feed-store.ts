import { Injectable } from '@nestjs/common';
import {
  isDerivedJourneyId,
  isStandIn,
  withoutPerson,
  type FeedEvent,
  type TrackingEvent,
} from '@perkway/domain';
import { DataSource } from 'typeorm';
import { PersonKeys } from './person-keys.js';
import { toFeedEvent } from './to-feed-event.js';

/** An event as the feed stores it. */
export interface NewRow extends FeedEvent {
  account_id: string;
  /** What a conversion is counted once by; null for all else. */
  external_key: string | null;
  journey_hash: string | null;
  /** As it was published. */
  source: TrackingEvent;
}

const ADD_FEEDS = `
  insert into feeds (account_id) select id from unnest($1::text[]) id order by id on conflict do nothing`;
/** Positions of an account are assigned one transaction after the other, so they become visible in their order. */
const LOCK_FEEDS = 'select from feeds where account_id = any ($1::text[]) order by account_id for update';
/** Looks for each event by an index. A join could read the whole table, whose statistics are old while it grows. */
const INSERT = `
  with new as (
    select * from jsonb_to_recordset($1) as n (
      number int, account_id text, id text, type text, occurred_at timestamptz, subject text, data jsonb, external_key text,
      erased boolean)
  ),
  -- Events that the feed does not have, numbered by account.
  missing as (
    select new.*, row_number() over (partition by account_id order by number) as place
    from new
    where (select true from events e where e.account_id = new.account_id and e.id = new.id limit 1) is null
      and (new.external_key is null or (
        select true from conversion_keys k where k.account_id = new.account_id and k.key = new.external_key limit 1) is null)
  ),
  -- The ends of their feeds. Times of one feed never go back, even if the clock does.
  heads as (
    select account_id, last_position, greatest(stored_at, clock_timestamp()) as now from feeds
    where account_id in (select account_id from missing)
  ),
  inserted as (
    insert into events (account_id, position, id, type, occurred_at, stored_at, subject, data, erased)
    select m.account_id, h.last_position + m.place, m.id, m.type, m.occurred_at, h.now, m.subject, m.data,
      coalesce(m.erased, false)
    from missing m join heads h using (account_id)
    returning account_id, position, stored_at
  ),
  -- A later conversion with the same external id is a duplicate.
  conversions as (
    insert into conversion_keys (account_id, key)
    select account_id, external_key from missing where external_key is not null
  )
  update feeds f set last_position = i.last, stored_at = i.stored_at
  from (select account_id, max(position) as last, max(stored_at) as stored_at from inserted group by account_id) i
  where f.account_id = i.account_id`;

const ERASED_JOURNEYS = `
  select account_id, hash, stand_in from erased_journeys
  where account_id = any ($1::text[]) and hash = any ($2::text[])`;

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
    const accounts = [...new Set(rows.map(({ account_id }) => account_id))];
    await this.dataSource.transaction(async (manager) => {
      await manager.query(ADD_FEEDS, [accounts]);
      await manager.query(LOCK_FEEDS, [accounts]);
      // After the lock, which an erasure takes too: an event that comes late cannot bring the person back.
      const hashes = [...new Set(rows.flatMap(({ journey_hash }) => journey_hash ?? []))];
      const found = await manager.query<{ account_id: string; hash: string; stand_in: string }[]>(
        ERASED_JOURNEYS,
        [accounts, hashes],
      );
      const standIns = new Map(
        found.map(({ account_id, hash, stand_in }) => [`${account_id}\0${hash}`, stand_in]),
      );
      const toStore = rows.map((row, number) => {
        const standIn = standIns.get(`${row.account_id}\0${row.journey_hash}`);
        const {
          source: _source,
          journey_hash: _hash,
          ...stored
        } = standIn === undefined ? row : erase(row, standIn);
        return { number, ...stored };
      });
      // One string of JSON: the driver takes longer to escape the elements of arrays.
      await manager.query(INSERT, [JSON.stringify(toStore)]);
    });
  }

  /** Removes the journey and the client's attributes from an event whose journey was erased. */
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

  /** Returns what `append` stores of an event; undefined for types that are not in the feed. */
  toRow(event: TrackingEvent): NewRow | undefined {
    const mapped = toFeedEvent(event);
    if (!mapped) return undefined;
    const { account } = event;
    const journey = 'journey' in event ? event.journey : undefined;
    const row = {
      ...mapped,
      source: event,
      account_id: account,
      external_key:
        event.type === 'conversion' && event.externalId !== undefined
          ? this.keys.externalId(account, event.externalId, event.traffic !== undefined)
          : null,
      // The journey of everybody who came without one is nobody's.
      journey_hash:
        journey === undefined || isDerived(event, journey) ? null : this.keys.journey(account, journey),
    };
    // A copy in the stream from which an erasure has removed the person.
    return journey !== undefined && isStandIn(journey) ? erase(row, journey) : row;
  }
}

const isDerived = (event: TrackingEvent, journey: string): boolean =>
  'campaign' in event && event.campaign !== undefined && isDerivedJourneyId(journey, event.campaign);

function erase(row: NewRow, standIn: string): NewRow {
  return {
    ...row,
    erased: true,
    subject: row.subject.startsWith('journey/') ? `journey/${standIn}` : row.subject,
    data: Object.fromEntries(Object.entries(row.data).filter(([name]) => !PERSON_MEMBERS.includes(name))),
  };
}

function firstOfEach(rows: readonly NewRow[]): NewRow[] {
  const seen = new Set<string>();
  return rows.filter(({ account_id, id, external_key }) => {
    const keys = [
      `${account_id}\0id\0${id}`,
      ...(external_key ? [`${account_id}\0key\0${external_key}`] : []),
    ];
    if (keys.some((key) => seen.has(key))) return false;
    for (const key of keys) seen.add(key);
    return true;
  });
}
