import { Inject, Injectable } from '@nestjs/common';
import type { TrackingEvent } from '@perkway/domain';
import { DataSource, type EntityManager } from 'typeorm';
import {
  byKey,
  columnsOf,
  hasExternalId,
  INSERT_EVENTS,
  instantOf,
  isStored,
  type StoredEvent,
} from './event-rows.js';

export interface StoreResult {
  /** Events that were new. */
  stored: number;
  /** Events that were there already, and conversions whose external id was counted before. */
  duplicates: number;
}

/** Longer names stay in `cmeta` and become no dimension; an index entry has its limits. */
const MAX_ATTRIBUTE_NAME = 200;
const MAX_KNOWN_NAMES = 100_000;

/** Any fixed number: one process at a time makes partitions. */
const PARTITION_LOCK = 7_271_002;

/** Writes batches of events: all of a batch, or nothing. */
@Injectable()
export class EventStore {
  private readonly partitions = new Set<string>();
  /** `account name` of attribute names that are in the table for sure. */
  private readonly knownNames = new Set<string>();

  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  async store(batch: TrackingEvent[]): Promise<StoreResult> {
    const events = batch.filter(isStored).sort(byKey);
    await this.ensurePartitions(events);
    const names = this.newNames(events);
    const stored = await this.dataSource.transaction(async (manager) => {
      await keepExternalIds(manager, events);
      const inserted = events.length > 0 ? await insertEvents(manager, events) : 0;
      await keepAttributeNames(manager, names);
      await keepPerkNames(manager, batch);
      await keepCampaignNames(manager, batch);
      return inserted;
    });
    if (this.knownNames.size > MAX_KNOWN_NAMES) this.knownNames.clear();
    for (const key of names.keys()) this.knownNames.add(key);
    return { stored, duplicates: events.length - stored };
  }

  /** Forgets which partitions exist, because one was missing. */
  forgetPartitions(): void {
    this.partitions.clear();
  }

  private async ensurePartitions(events: StoredEvent[]): Promise<void> {
    const months = new Set(events.map((event) => instantOf(event).slice(0, 7)));
    for (const month of months) {
      if (this.partitions.has(month)) continue;
      await this.createPartition(month);
      this.partitions.add(month);
    }
  }

  /**
   * Made on its own and then attached: `create table ... partition of` would wait for every running query and keep
   * all later ones waiting behind it.
   */
  private async createPartition(month: string): Promise<void> {
    const name = `tracking_events_${month.replace('-', '_')}`;
    const from = `${month}-01T00:00:00Z`;
    const [year, number] = month.split('-').map(Number) as [number, number];
    const to = new Date(Date.UTC(year, number, 1)).toISOString();
    await this.dataSource.transaction(async (manager) => {
      await manager.query('select pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
      const [{ attached }] = (await manager.query(
        `select exists (select from pg_inherits where inhrelid = to_regclass($1)) as attached`,
        [name],
      )) as [{ attached: boolean }];
      if (attached) return;
      await manager.query(`create table ${name} (like tracking_events including all)`);
      await manager.query(
        `alter table tracking_events attach partition ${name} for values from ('${from}') to ('${to}')`,
      );
    });
  }

  /** Attribute names of the batch that are not known to be in the table, by account and name. */
  private newNames(events: StoredEvent[]): Map<string, [account: string, name: string]> {
    const names = new Map<string, [string, string]>();
    for (const event of events) {
      if (!('cmeta' in event) || !event.cmeta) continue;
      for (const name of Object.keys(event.cmeta)) {
        const key = `${event.account} ${name}`;
        if (name.length <= MAX_ATTRIBUTE_NAME && !this.knownNames.has(key))
          names.set(key, [event.account, name]);
      }
    }
    return names;
  }
}

async function insertEvents(manager: EntityManager, events: StoredEvent[]): Promise<number> {
  const { affected } = await manager.queryRunner!.query(INSERT_EVENTS, columnsOf(events), true);
  return affected ?? 0;
}

/** The first event with an external id gets it; which one that was is decided here, once. */
async function keepExternalIds(manager: EntityManager, events: StoredEvent[]): Promise<void> {
  const conversions = events
    .filter(hasExternalId)
    .sort((a, b) => byKey({ ...a, at: 0, id: a.externalId }, { ...b, at: 0, id: b.externalId }));
  if (conversions.length === 0) return;
  await manager.query(
    `insert into conversion_ids (account_id, external_id, event_id, occurred_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
     on conflict do nothing`,
    [
      conversions.map(({ account }) => account),
      conversions.map(({ externalId }) => externalId),
      conversions.map(({ id }) => id),
      conversions.map(instantOf),
    ],
  );
}

async function keepAttributeNames(
  manager: EntityManager,
  names: Map<string, [string, string]>,
): Promise<void> {
  if (names.size === 0) return;
  const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
  await manager.query(
    `insert into attribute_names (account_id, name)
     select * from unnest($1::text[], $2::text[])
     on conflict do nothing`,
    [sorted.map(([account]) => account), sorted.map(([, name]) => name)],
  );
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
