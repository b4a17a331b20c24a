import { Injectable } from '@nestjs/common';
import { Loops } from '@perkway/platform';
import { DataSource } from 'typeorm';

const INTERVAL_MS = 60_000;

/** The first instant of a month that is given as a date. */
export const startOf = (date: string): string => `((${date})::timestamp at time zone 'UTC')`;

/**
 * Selects the first month that is not closed, the current month, and whether the former can be closed. It cannot while
 * a transaction that began in it is running, because rows of that transaction have times of that month.
 */
const OPEN = `
  select to_char(o.month, 'YYYY-MM') as open, to_char(t.month, 'YYYY-MM') as "current", not exists (
    select from pg_stat_activity
    where datname = current_database() and usename = current_user
      and xact_start < ${startOf(`o.month + interval '1 month'`)}
  ) as settled
  from (select date_trunc('month', now() at time zone 'UTC') as month) t
  cross join lateral (
    select coalesce(
      (select max(month) + interval '1 month' from closed_months),
      (select date_trunc('month', min(created_at) at time zone 'UTC') from pools),
      t.month
    ) as month
  ) o`;

const END = startOf(`$1::date + interval '1 month'`);
/** Counts every inventory from its cards and links. Two replicas that close the same month find the same totals. */
const CLOSE = `
  with closed as (
    -- Returns no row if the month is closed already, and then nothing is inserted below.
    insert into closed_months (month) values ($1::date) on conflict do nothing returning month
  )
  insert into month_totals
    (month, inventory_id, account, loaded, revealed, withdrawn, generated, cancelled, expired)
  select closed.month, i.id, p.owner, c.loaded, coalesce(l.revealed, 0), coalesce(w.withdrawn, 0), coalesce(l.generated, 0),
    coalesce(l.cancelled, 0), coalesce(l.expired, 0)
  from closed
  cross join inventories i
  join pools p on p.id = i.pool_id
  join (select inventory_id, count(*) as loaded from cards where loaded_at < ${END} group by 1) c
    on c.inventory_id = i.id
  left join (
    -- Links created before the end of the month, by their state at that moment.
    select inventory_id, count(*) as generated,
      count(*) filter (where revealed_at < ${END}) as revealed,
      count(*) filter (where cancelled_at < ${END}) as cancelled,
      count(*) filter (where revealed_at is null and cancelled_at is null and expires_at < ${END}) as expired
    from reward_links where created_at < ${END} group by 1
  ) l on l.inventory_id = i.id
  left join (
    select inventory_id, count(*) as withdrawn from (
      -- Cards withdrawn before the end of the month.
      select inventory_id from withdrawn_cards where withdrawn_at < ${END}
      union all
      -- Cards of recalled links: withdrawn since their links ended, although that is not written yet.
      select inventory_id from reward_links
      where recalled_by is not null and revealed_at is null and not released and expires_at < ${END}
    ) gone group by 1
  ) w on w.inventory_id = i.id`;

interface Months {
  /** The first month that is not closed. */
  open: string;
  /** This month, by the clock of the database. */
  current: string;
}

/** Stores the totals of each month once it is over (docs/adr/0044-statements.md). */
@Injectable()
export class MonthCloser {
  constructor(
    private readonly dataSource: DataSource,
    loops: Loops,
  ) {
    loops.add({ task: 'close a month', everyMs: INTERVAL_MS, run: async () => void (await this.close()) });
  }

  /** Closes every month that is over and in which no transaction still runs. */
  async close(): Promise<Months> {
    for (;;) {
      const [months] = await this.dataSource.query<[Months & { settled: boolean }]>(OPEN);
      if (months.open >= months.current || !months.settled) return months;
      await this.dataSource.query(CLOSE, [`${months.open}-01`]);
    }
  }
}
