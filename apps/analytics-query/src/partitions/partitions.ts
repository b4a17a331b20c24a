import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { DataSource } from 'typeorm';

/**
 * With the default settings, autovacuum would reach the newest rows only after days, and until then queries could not
 * read them with index-only scans.
 */
export const PARTITION_OPTIONS =
  'autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02';

/** `2026-01`, in UTC. */
export const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);
export const partitionOf = (month: string): string => `tracking_events_${month.replace('-', '_')}`;
/** Returns both bounds as SQL literals; `to` is exclusive. */
export function boundsOf(month: string): { from: string; to: string } {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return { from: `'${month}-01T00:00:00Z'`, to: `'${new Date(Date.UTC(year, number, 1)).toISOString()}'` };
}

/** The monthly partitions of `tracking_events`. */
@Injectable()
export class Partitions {
  private readonly known = new Set<string>();

  constructor(private readonly dataSource: DataSource) {}

  /** Creates the partition of a month unless it exists. */
  async ensure(month: string): Promise<void> {
    if (this.known.has(month)) return;
    await this.create(month);
    this.known.add(month);
  }

  /** Clears the cache of existing partitions, because one was missing. */
  forget(): void {
    this.known.clear();
  }

  /**
   * Creates the table first and then attaches it: `create table ... partition of` would wait for every running query
   * and block all later ones. A table that was detached is attached again, and its hours are marked dirty.
   */
  private async create(month: string): Promise<void> {
    const name = partitionOf(month);
    const { from, to } = boundsOf(month);
    await this.dataSource.transaction(async (manager) => {
      await manager.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.eventPartitions})`);
      const [{ exists, attached }] = await manager.query<[{ exists: boolean; attached: boolean }]>(
        `select to_regclass($1) is not null as exists,
           exists (select from pg_inherits where inhrelid = to_regclass($1)) as attached`,
        [name],
      );
      if (attached) return;
      if (!exists)
        await manager.query(
          `create table ${name} (like tracking_events including all) with (${PARTITION_OPTIONS})`,
        );
      await manager.query(
        `alter table tracking_events attach partition ${name} for values from (${from}) to (${to})`,
      );
      if (!exists) return;
      await manager.query(`select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.ingest})`);
      await manager.query(
        `insert into dirty_hours (account_id, hour)
         select distinct account_id, date_trunc('hour', occurred_at, 'UTC') from ${name}`,
      );
    });
  }
}
