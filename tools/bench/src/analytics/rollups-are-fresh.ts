import pg from 'pg';
import type { Fleet } from '../fleet.js';

/** Maintenance sorts each month three days after its end, and until then one of at least this size every week. */
const LARGE_BYTES = 32 * 1024 ** 2;
const IS_FRESH = `
  select closed_to = closing_to and closed_to > now() - interval '2 hours'
    and not exists (select from dirty_hours where hour < closed_to)
    and not exists (
      select from pg_inherits i
      cross join lateral to_date(right(i.inhrelid::regclass::text, 7), 'YYYY_MM') as m (month)
      where i.inhparent = 'tracking_events'::regclass and not exists (select from sorted_months s where s.month = m.month)
        and (
          m.month + interval '1 month 3 days' <= now()
          or m.month + interval '7 days' <= now() and pg_relation_size(i.inhrelid) >= ${LARGE_BYTES}
        )
    ) as fresh
  from rollup_state`;

/**
 * Waits until all hours have rollup rows, all months are sorted and nothing is dirty. Meanwhile analytics-query runs
 * its maintenance every second, because by default it would look for months to sort only every ten minutes.
 */
export async function rollupsAreFresh(fleet: Fleet): Promise<void> {
  await restart(fleet, { ROLLUP_INTERVAL_MS: '1000', UPKEEP_INTERVAL_MS: '1000' });
  await untilFresh(fleet);
  await restart(fleet);
}

async function restart(fleet: Fleet, variables?: Record<string, string>): Promise<void> {
  await fleet.halt('analytics-query');
  await fleet.startApp('analytics-query', variables);
}

async function untilFresh(fleet: Fleet): Promise<void> {
  const client = new pg.Client({ connectionString: fleet.databaseUrl, options: '-c search_path=analytics' });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ fresh: boolean }>(IS_FRESH);
      if (rows[0]!.fresh) return;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  } finally {
    await client.end();
  }
}
