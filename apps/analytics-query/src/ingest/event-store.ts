import { Inject, Injectable } from '@nestjs/common';
import {
  ADVISORY_LOCKS,
  isCallerId,
  isRecord,
  isStored,
  subjectOf,
  type Erasure,
  type StoredEvent,
  type TrackingEvent,
} from '@perkway/domain';
import { copyIn, ENV, isDatabaseUnavailable, isDefinitionRefused } from '@perkway/platform';
import type { PoolClient } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import type { AnalyticsQueryEnv } from '../env.js';
import { eraseFromEvent, stringsIn } from '../erasures/erase-from-message.js';
import { ErasedJourneys } from '../erasures/erased-journeys.js';
import { keptFrom } from '../retention.js';
import { AttributeNames } from './attribute-names.js';
import { byKey, compareText, copyOf, hasExternalId, insertOf, instantOf } from './event-rows.js';
import { monthOf, Partitions } from '../partitions/partitions.js';
import type { RejectedEvent } from '@perkway/tracking/read-message';

export interface StoreResult {
  /** New events. */
  stored: number;
  /** Events already stored, and conversions whose external id was already counted. */
  duplicates: number;
  /** Events of months that are no longer kept. */
  expired: number;
  /** Events of months that cannot have a partition. */
  rejected: RejectedEvent[];
  /** Erasures of the journeys that some of the events belong to. */
  erasures: Erasure[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Stores batches of events. Each batch is one transaction; events that cannot have a partition are left out of it. */
@Injectable()
export class EventStore {
  private readonly attributeNames = new AttributeNames();
  /** True while batches have no duplicates, and so can be copied instead of inserted. */
  private isCopying = true;

  constructor(
    private readonly dataSource: DataSource,
    private readonly partitions: Partitions,
    private readonly erased: ErasedJourneys,
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
  ) {}

  async store(batch: TrackingEvent[]): Promise<StoreResult> {
    const all = batch.filter(isStored);
    const oldest = keptFrom(this.env.RETENTION_MONTHS, Date.now());
    const kept = all.filter(({ at }) => at >= oldest).sort(byKey);
    const { events, rejected } = await this.withPartition(kept);
    const { stored, erasures } = await this.copyOrInsert(events, batch);
    return {
      stored,
      erasures,
      duplicates: events.length - stored,
      expired: all.length - kept.length,
      rejected,
    };
  }

  /**
   * Copies the events, which is fastest but fails if one of them is already stored. Then inserts this batch and the
   * next ones, until a batch has no duplicates.
   */
  private async copyOrInsert(events: StoredEvent[], batch: TrackingEvent[]) {
    if (this.isCopying)
      try {
        return await this.write(events, batch, copyEvents);
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        // Not necessarily a duplicate: the insert below skips duplicates and reports any other error again.
        this.isCopying = false;
      }
    return this.write(events, batch, async (manager, counted) => {
      const inserted = await insertEvents(manager, counted);
      this.isCopying = inserted === counted.length;
      return inserted;
    });
  }

  /** Writes the events in one transaction. */
  private async write(events: StoredEvent[], batch: TrackingEvent[], add: typeof copyEvents) {
    const { names, ...result } = await this.dataSource.transaction(async (manager) => {
      await markDirtyHours(manager, events);
      const isCounted = await this.countsOnce(manager, events);
      const replaced = await this.erased.replaceErased(manager, events);
      const stored = await add(
        manager,
        replaced.events.filter((_, index) => isCounted[index]),
      );
      const newNames = this.attributeNames.unknownNames(replaced.events);
      await this.attributeNames.keep(manager, newNames);
      await upsertPerkNames(manager, batch);
      await upsertCampaignNames(manager, batch);
      return { stored, names: newNames, erasures: replaced.erasures };
    });
    this.attributeNames.remember(names);
    return result;
  }

  /**
   * Returns for each event whether it counts. Of several conversions with the same external id only the first to arrive
   * counts, even if its person has been erased.
   */
  private async countsOnce(manager: EntityManager, events: StoredEvent[]): Promise<boolean[]> {
    const keysOf = new Map<StoredEvent, string[]>();
    for (const event of events)
      if (hasExternalId(event)) {
        const isPublic = event.traffic !== undefined;
        keysOf.set(event, this.erased.externalIdKeys(event.account, event.externalId, isPublic));
      }
    if (keysOf.size === 0) return events.map(() => true);
    const owners = await ownersOf(manager, keysOf);
    const ownerOf = (event: StoredEvent, keys: string[]): Owner | undefined =>
      keys.map((key) => owners.get(`${event.account} ${key}`)).find((owner) => owner !== undefined);
    const unknown = [...keysOf].filter(([event, keys]) => !ownerOf(event, keys));
    if (unknown.length > 0) {
      await addOwners(manager, unknown);
      // Another replica may have added an owner first.
      for (const [key, owner] of await ownersOf(manager, unknown)) owners.set(key, owner);
    }
    return events.map((event) => {
      const keys = keysOf.get(event);
      if (!keys) return true;
      const owner = ownerOf(event, keys);
      return owner?.event_id === event.id && owner.occurred_at.getTime() === event.at;
    });
  }

  /** Removes erased persons from an event that cannot be stored, before it is dead-lettered. */
  async withoutErased(
    content: RejectedEvent['content'],
  ): Promise<{ content: RejectedEvent['content']; erasures: Erasure[] }> {
    // Only valid accounts have erasures, and Postgres does not take every string as a parameter.
    if (!('event' in content) || !isRecord(content.event) || !isCallerId(content.event.account))
      return { content, erasures: [] };
    const erasures = await this.erased.erasuresOfJourneys(content.event.account, stringsIn(content.event));
    return { content: { event: eraseFromEvent(content.event, erasures) }, erasures };
  }

  /** Rejects events whose month cannot have a partition, so that they do not block the others. */
  private async withPartition(
    all: StoredEvent[],
  ): Promise<{ events: StoredEvent[]; rejected: RejectedEvent[] }> {
    const refused = new Map<string, string>();
    for (const month of monthsOf(all))
      try {
        await this.partitions.ensure(month);
      } catch (error) {
        if (!isDefinitionRefused(error)) throw error;
        refused.set(month, `cannot create the partition ${month}: ${(error as Error).message}`);
      }
    if (refused.size === 0) return { events: all, rejected: [] };
    return {
      events: all.filter(({ at }) => !refused.has(monthOf(at))),
      rejected: all.flatMap((event) => {
        const reason = refused.get(monthOf(event.at));
        return reason === undefined ? [] : [{ content: { event }, reason, source: subjectOf(event.type) }];
      }),
    };
  }
}

/** Returns the months of the events. Formats one date per day instead of one per event, to save time. */
function monthsOf(events: StoredEvent[]): Set<string> {
  const days = new Set(events.map(({ at }) => Math.floor(at / DAY_MS)));
  return new Set([...days].map((day) => monthOf(day * DAY_MS)));
}

/**
 * Marks the hours of the batch that have rollup rows, or are about to get them, as dirty. The lock is a statement of
 * its own, so that the next one sees the rows committed while it waited.
 */
async function markDirtyHours(manager: EntityManager, events: StoredEvent[]): Promise<void> {
  if (events.length === 0) return;
  await manager.query(`select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.ingest})`);
  const [{ closing }] = await manager.query<[{ closing: string }]>(
    'select extract(epoch from closing_to) * 1000 as closing from rollup_state',
  );
  const closingTo = Number(closing);
  const marks = new Map<string, [account: string, hour: number]>();
  for (const { account, at } of events) {
    if (at >= closingTo) continue;
    const hour = at - (at % HOUR_MS);
    marks.set(`${account} ${hour}`, [account, hour]);
  }
  if (marks.size === 0) return;
  await manager.query(
    'insert into dirty_hours (account_id, hour) select * from unnest($1::text[], $2::timestamptz[])',
    [
      [...marks.values()].map(([account]) => account),
      [...marks.values()].map(([, hour]) => new Date(hour).toISOString()),
    ],
  );
}

/**
 * Copies the events and returns their number.
 *
 * @throws if one of them is already stored
 */
async function copyEvents(manager: EntityManager, events: StoredEvent[]): Promise<number> {
  if (events.length === 0) return 0;
  const { text, rows } = copyOf(events);
  return copyIn((await manager.queryRunner!.connect()) as PoolClient, text, rows);
}

/** Inserts the events that are not stored yet, and returns their number. */
async function insertEvents(manager: EntityManager, events: StoredEvent[]): Promise<number> {
  if (events.length === 0) return 0;
  const { text, params } = insertOf(events);
  const { affected } = await manager.queryRunner!.query(text, params, true);
  return affected ?? 0;
}

interface Owner {
  account_id: string;
  external_id: string;
  event_id: string;
  occurred_at: Date;
}

/** Returns the event that was counted for each external id, by account and key. */
async function ownersOf(
  manager: EntityManager,
  keysOf: Iterable<readonly [StoredEvent, string[]]>,
): Promise<Map<string, Owner>> {
  const wanted = [...keysOf];
  const owners = await manager.query<Owner[]>(
    `select account_id, external_id, event_id, occurred_at from conversion_ids
     where account_id = any($1::text[]) and external_id = any($2::text[])`,
    [[...new Set(wanted.map(([{ account }]) => account))], wanted.flatMap(([, keys]) => keys)],
  );
  return new Map(owners.map((owner) => [`${owner.account_id} ${owner.external_id}`, owner]));
}

/** Records the events as the owners of their external ids. All writers use the same order, so they cannot deadlock. */
async function addOwners(
  manager: EntityManager,
  keysOf: readonly (readonly [StoredEvent, string[]])[],
): Promise<void> {
  const sorted = [...keysOf].sort(
    ([a, [keyOfA]], [b, [keyOfB]]) =>
      compareText(a.account, b.account) || compareText(keyOfA!, keyOfB!) || byKey(a, b),
  );
  await manager.query(
    `insert into conversion_ids (account_id, external_id, event_id, occurred_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
     on conflict do nothing`,
    [
      sorted.map(([{ account }]) => account),
      sorted.map(([, [key]]) => key),
      sorted.map(([{ id }]) => id),
      sorted.map(([event]) => instantOf(event)),
    ],
  );
}

/** Returns the newest event per key, sorted by key. */
function newest<E extends { at: number }>(events: E[], keyOf: (event: E) => string): E[] {
  const newestOf = new Map<string, E>();
  for (const event of events) {
    const known = newestOf.get(keyOf(event));
    if (!known || event.at >= known.at) newestOf.set(keyOf(event), event);
  }
  return [...newestOf].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, event]) => event);
}

async function upsertPerkNames(manager: EntityManager, batch: TrackingEvent[]): Promise<void> {
  const named = newest(
    batch.filter((event) => event.type === 'perk_named'),
    ({ perk }) => perk,
  );
  if (named.length === 0) return;
  await manager.query(
    `insert into perk_names as known (perk_id, title, partner_id, updated_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
     on conflict (perk_id) do update
       set title = excluded.title, partner_id = excluded.partner_id, updated_at = excluded.updated_at
       where excluded.updated_at >= known.updated_at`,
    [
      named.map(({ perk }) => perk),
      named.map(({ title }) => title),
      named.map(({ partner }) => partner),
      named.map(instantOf),
    ],
  );
}

async function upsertCampaignNames(manager: EntityManager, batch: TrackingEvent[]): Promise<void> {
  const named = newest(
    batch.filter((event) => event.type === 'campaign_named'),
    ({ account, campaign }) => `${account} ${campaign}`,
  );
  if (named.length === 0) return;
  await manager.query(
    `insert into campaign_names as known (account_id, campaign_id, name, updated_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
     on conflict (account_id, campaign_id) do update
       set name = excluded.name, updated_at = excluded.updated_at
       where excluded.updated_at >= known.updated_at`,
    [
      named.map(({ account }) => account),
      named.map(({ campaign }) => campaign),
      named.map(({ name }) => name),
      named.map(instantOf),
    ],
  );
}
