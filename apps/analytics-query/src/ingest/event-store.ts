import { Inject, Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS, isCallerId, isRecord, type Erasure, type TrackingEvent } from '@perkway/domain';
import { ENV, isDatabaseAway } from '@perkway/platform';
import type { PoolClient } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import type { AnalyticsQueryEnv } from '../env.js';
import { ErasedJourneys } from '../erasures/erased-journeys.js';
import { keptFrom } from '../retention.js';
import { AttributeNames } from './attribute-names.js';
import { copyIn } from './copy-in.js';
import {
  byKey,
  copyOf,
  hasExternalId,
  insertOf,
  instantOf,
  isStored,
  type StoredEvent,
} from './event-rows.js';
import { monthOf, Partitions } from '../partitions/partitions.js';
import type { RejectedEvent } from './read-message.js';

export interface StoreResult {
  /** Events that were new. */
  stored: number;
  /** Events that were there already, and conversions whose external id was counted before. */
  duplicates: number;
  /** Events of months that are no longer kept. */
  expired: number;
  /** Events for which there is no place. */
  rejected: RejectedEvent[];
  /** Of the journeys that some of the events were of. */
  erasures: Erasure[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Writes batches of events: all of a batch that has a place, or nothing. */
@Injectable()
export class EventStore {
  private readonly attributeNames = new AttributeNames();
  /** False from the first event that came a second time until a batch without one. */
  private isCopying = true;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Partitions) private readonly partitions: Partitions,
    @Inject(ErasedJourneys) private readonly erased: ErasedJourneys,
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
  ) {}

  async store(batch: TrackingEvent[]): Promise<StoreResult> {
    const all = batch.filter(isStored);
    const oldest = keptFrom(this.env.RETENTION_MONTHS, Date.now());
    const kept = all.filter(({ at }) => at >= oldest).sort(byKey);
    const { events, rejected } = await this.withPartition(kept);
    const { stored, erasures } = await this.storeTogether(events, batch);
    return {
      stored,
      erasures,
      duplicates: events.length - stored,
      expired: all.length - kept.length,
      rejected,
    };
  }

  /** Events come once nearly always, so they are copied; where one does not, the batch is inserted, and so are those after it. */
  private async storeTogether(events: StoredEvent[], batch: TrackingEvent[]) {
    if (this.isCopying)
      try {
        return await this.write(events, batch, copyEvents);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        // Whatever is wrong, the insert tells; not every server says by its code that a key is taken.
        this.isCopying = false;
      }
    return this.write(events, batch, async (manager, some) => {
      const inserted = await insertEvents(manager, some);
      this.isCopying = inserted === some.length;
      return inserted;
    });
  }

  /** In one transaction. */
  private async write(events: StoredEvent[], batch: TrackingEvent[], add: typeof copyEvents) {
    const { names, ...result } = await this.dataSource.transaction(async (manager) => {
      await markClosedHours(manager, events);
      const late = await this.erased.takeOut(manager, events);
      const stored = await add(manager, await withOwnExternalIds(manager, late.events));
      const newNames = this.attributeNames.newOnes(late.events);
      await this.attributeNames.keep(manager, newNames);
      await keepPerkNames(manager, batch);
      await keepCampaignNames(manager, batch);
      return { stored, names: newNames, erasures: late.erasures };
    });
    this.attributeNames.remember(names);
    return result;
  }

  /** What cannot be stored, without the persons who were erased. */
  async withoutErased(
    content: RejectedEvent['content'],
  ): Promise<{ content: RejectedEvent['content']; erasures: Erasure[] }> {
    // Nobody was erased from what is no account, and not every text can be asked for.
    if (!('event' in content) || !isRecord(content.event) || !isCallerId(content.event.account))
      return { content, erasures: [] };
    const event = { ...content.event, account: content.event.account };
    const { events, erasures } = await this.erased.takeOut(this.dataSource.manager, [event]);
    return { content: { event: events[0] }, erasures };
  }

  /** Puts the events aside whose month cannot have a partition, so that they do not hold up the others. */
  private async withPartition(
    all: StoredEvent[],
  ): Promise<{ events: StoredEvent[]; rejected: RejectedEvent[] }> {
    const refused = new Map<string, string>();
    for (const month of monthsOf(all))
      try {
        await this.partitions.ensure(month);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        refused.set(month, `there is no partition ${month}: ${(error as Error).message}`);
      }
    if (refused.size === 0) return { events: all, rejected: [] };
    return {
      events: all.filter(({ at }) => !refused.has(monthOf(at))),
      rejected: all.flatMap((event) => {
        const reason = refused.get(monthOf(event.at));
        return reason === undefined ? [] : [{ content: { event }, reason }];
      }),
    };
  }
}

/** A date is made for each day, not for each event. */
function monthsOf(events: StoredEvent[]): Set<string> {
  const days = new Set(events.map(({ at }) => Math.floor(at / DAY_MS)));
  return new Set([...days].map((day) => monthOf(day * DAY_MS)));
}

/**
 * Leaves a mark on each hour of the batch that has cells or is getting them. Two statements, because the second must
 * see what was committed while the first one waited.
 */
async function markClosedHours(manager: EntityManager, events: StoredEvent[]): Promise<void> {
  if (events.length === 0) return;
  await manager.query(`select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.ingest})`);
  const [{ closing }] = (await manager.query(
    'select extract(epoch from closing_to) * 1000 as closing from rollup_state',
  )) as [{ closing: string }];
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
 * @returns how many: all of them
 * @throws where one of them is there already
 */
async function copyEvents(manager: EntityManager, events: StoredEvent[]): Promise<number> {
  if (events.length === 0) return 0;
  const { text, rows } = copyOf(events);
  return copyIn((await manager.queryRunner!.connect()) as PoolClient, text, rows);
}

/** @returns how many were new */
async function insertEvents(manager: EntityManager, events: StoredEvent[]): Promise<number> {
  if (events.length === 0) return 0;
  const { text, params } = insertOf(events);
  const { affected } = await manager.queryRunner!.query(text, params, true);
  return affected ?? 0;
}

const externalKey = (account: string, externalId: string): string => `${account} ${externalId}`;

/**
 * The first event with an external id gets it, whatever its time; which one that was is decided here, once. Answers
 * the events without those conversions whose external id is another event's.
 */
async function withOwnExternalIds(manager: EntityManager, events: StoredEvent[]): Promise<StoredEvent[]> {
  const conversions = events
    .filter(hasExternalId)
    .sort((a, b) => byKey({ ...a, at: 0, id: a.externalId }, { ...b, at: 0, id: b.externalId }));
  if (conversions.length === 0) return events;
  const accounts = conversions.map(({ account }) => account);
  const externalIds = conversions.map(({ externalId }) => externalId);
  await manager.query(
    `insert into conversion_ids (account_id, external_id, event_id, occurred_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
     on conflict do nothing`,
    [accounts, externalIds, conversions.map(({ id }) => id), conversions.map(instantOf)],
  );
  const owners = (await manager.query(
    `select account_id, external_id, event_id, occurred_at from conversion_ids
     where account_id = any($1::text[]) and external_id = any($2::text[])`,
    [accounts, externalIds],
  )) as { account_id: string; external_id: string; event_id: string; occurred_at: Date }[];
  const ownerOf = new Map(owners.map((owner) => [externalKey(owner.account_id, owner.external_id), owner]));
  return events.filter((event) => {
    if (!hasExternalId(event)) return true;
    const owner = ownerOf.get(externalKey(event.account, event.externalId));
    return owner?.event_id === event.id && owner.occurred_at.getTime() === event.at;
  });
}

/** The newest of those with the same key, in the order of the keys. */
function newest<E extends { at: number }>(events: E[], keyOf: (event: E) => string): E[] {
  const byKey = new Map<string, E>();
  for (const event of events) {
    const known = byKey.get(keyOf(event));
    if (!known || event.at >= known.at) byKey.set(keyOf(event), event);
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, event]) => event);
}

async function keepPerkNames(manager: EntityManager, batch: TrackingEvent[]): Promise<void> {
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

async function keepCampaignNames(manager: EntityManager, batch: TrackingEvent[]): Promise<void> {
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
