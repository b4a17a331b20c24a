import { Inject, Injectable } from '@nestjs/common';
import {
  ADVISORY_LOCKS,
  CUSTOMER_ATTRIBUTES,
  externalIdStandIn,
  UTM_NAMES,
  type Erasure,
} from '@perkway/domain';
import { ENV } from '@perkway/platform';
import type pg from 'pg';
import type { AnalyticsQueryEnv } from '../env.js';
import { HAS_DERIVED_JOURNEY } from '../model/cubes.js';
import { ErasedJourneys, publicConversionKey } from './erased-journeys.js';
import { withMaintenanceClient } from '../maintenance/maintenance-connection.js';

/**
 * Rows per transaction. Each transaction shares the ingest lock: a rollup refresh, which needs the lock for itself,
 * waits until the transaction ends, and ingest waits behind the refresh.
 */
const ROWS_PER_TRANSACTION = 500;

interface Key {
  occurred_at: Date;
  id: string;
}
interface Row extends Key {
  journey_id: string | null;
  external_id: string | null;
}

const IS_OF_SUBJECT = `(
    e.journey_id = any($2) and not ${HAS_DERIVED_JOURNEY}
    or e.reference = any($3)
    or e.cmeta is not null and exists (
      select from jsonb_each_text(e.cmeta) as a (name, value)
      where a.value = any($3) and lower(replace(a.name, '-', '_')) = any($4)
    )
  )`;
const NEXT = `
  select e.occurred_at, e.id from tracking_events e
  where e.account_id = $1 and (e.occurred_at, e.id) > ($5, $6) and ${IS_OF_SUBJECT}
  order by e.occurred_at, e.id limit ${ROWS_PER_TRANSACTION}`;
/**
 * Locks the rows and reads them again, so that this does not write back values that another replica has erased.
 */
const LOCK = `
  select e.occurred_at, e.id, e.journey_id, e.external_id from tracking_events e
  where e.account_id = $1 and (e.occurred_at, e.id) in (select * from unnest($5::timestamptz[], $6::text[]))
    and e.occurred_at between $7 and $8 and ${IS_OF_SUBJECT}
  order by e.occurred_at, e.id
  for update of e`;

/**
 * Marks the hours as dirty, as ingest does, so that a concurrent sort of the month copies them again. The rollups would
 * be correct without the marks.
 */
const MARK = `
  insert into dirty_hours (account_id, hour)
  select distinct $1, date_trunc('hour', u.at, 'UTC') from unnest($2::timestamptz[]) as u (at), rollup_state s
  where u.at < s.closing_to`;
const CHANGE = `
  update tracking_events e
  set journey_id = u.journey_id, external_id = u.external_id, reference = null, cmeta = null,
    ${UTM_NAMES.map((name) => `${name} = null`).join(', ')}
  from unnest($2::timestamptz[], $3::text[], $4::text[], $5::text[]) as u (occurred_at, id, journey_id, external_id)
  where e.account_id = $1 and e.occurred_at = u.occurred_at and e.id = u.id
    and e.occurred_at between $6 and $7`;
/**
 * Replaces external ids in `conversion_ids` with their current stand-ins. An erasure puts the same stand-ins into the
 * events in the stream, so that a replay finds these rows. The old values are stand-ins made with former ERASURE_KEYS,
 * or the ids themselves in rows of earlier releases.
 */
const CHANGE_EXTERNAL_IDS = `
  with gone as (
    delete from conversion_ids c using unnest($2::text[], $3::text[]) as u (external_id, stand_in)
    where c.account_id = $1 and c.external_id = u.external_id
    returning c.account_id, u.stand_in, c.event_id, c.occurred_at
  )
  insert into conversion_ids (account_id, external_id, event_id, occurred_at)
  select * from gone on conflict do nothing`;

/** Erases people's data from stored events. The events still count, with their time, perk and campaign. */
@Injectable()
export class EventEraser {
  constructor(
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
    private readonly erased: ErasedJourneys,
  ) {}

  /**
   * @param erasures of one account. Events of an erased journey that arrive later are changed before they are stored.
   *   Events of a customer that were in flight are left to the second round.
   */
  async erase(account: string, erasures: readonly Erasure[]): Promise<void> {
    const journeys = new Map(
      erasures.flatMap(({ kind, value, standIn }) => (kind === 'journey_id' ? [[value, standIn]] : [])),
    );
    const customers = erasures.flatMap(({ kind, value }) => (kind === 'customer_id' ? [value] : []));
    const { secret } = erasures[0]!;
    const subjects = [account, [...journeys.keys()], customers, CUSTOMER_ATTRIBUTES];
    await withMaintenanceClient(this.env.DATABASE_URL, async (client) => {
      for (let after: [Date, string] = [new Date(0), '']; ;) {
        const { rows: keys } = await client.query<Key>(NEXT, [...subjects, ...after]);
        const last = keys.at(-1);
        if (!last) return;
        await client.query('begin');
        try {
          await client.query(`select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.ingest})`);
          const times = instantsOf(keys);
          const { rows } = await client.query<Row>(LOCK, [
            ...subjects,
            times,
            keys.map(({ id }) => id),
            times[0],
            times.at(-1),
          ]);
          if (rows.length > 0) await this.change(client, account, secret, rows, journeys);
          await client.query('commit');
        } catch (error) {
          await client.query('rollback');
          throw error;
        }
        after = [last.occurred_at, last.id];
      }
    });
  }

  private async change(
    client: pg.Client,
    account: string,
    secret: string,
    rows: Row[],
    journeys: ReadonlyMap<string, string>,
  ): Promise<void> {
    const times = instantsOf(rows);
    const externalIds = [...new Set(rows.flatMap(({ external_id }) => external_id ?? []))];
    const standIns = new Map(externalIds.map((each) => [each, externalIdStandIn(secret, each)]));
    await client.query(MARK, [account, times]);
    await client.query(CHANGE, [
      account,
      times,
      rows.map(({ id }) => id),
      rows.map(({ journey_id: journey }) => journey && (journeys.get(journey) ?? journey)),
      rows.map(({ external_id: each }) => each && standIns.get(each)),
      times[0],
      times.at(-1),
    ]);
    const formerKeys = externalIds
      .flatMap((each) => {
        const standIn = standIns.get(each)!;
        return [
          ...this.erased.externalIdKeys(account, each, false).map((key) => [key, standIn] as const),
          ...this.erased
            .externalIdKeys(account, each, true)
            .map((key) => [key, publicConversionKey(standIn)] as const),
        ];
      })
      .filter(([key, standIn]) => key !== standIn);
    if (formerKeys.length > 0)
      await client.query(CHANGE_EXTERNAL_IDS, [
        account,
        formerKeys.map(([key]) => key),
        formerKeys.map(([, standIn]) => standIn),
      ]);
  }
}

const instantsOf = (keys: readonly Key[]): string[] =>
  keys.map(({ occurred_at }) => occurred_at.toISOString());
