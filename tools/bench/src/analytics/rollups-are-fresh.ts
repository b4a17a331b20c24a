import pg from 'pg';
import type { Fleet } from '../fleet.js';

/** Until all hours have cells, all months are in order that upkeep brings into it, and nothing is waiting. */
export async function rollupsAreFresh(fleet: Fleet): Promise<void> {
  const client = new pg.Client({ connectionString: fleet.databaseUrl, options: '-c search_path=analytics' });
  await client.connect();
  // Those that are made ahead; and in the first days of a month it and the one before.
  const unsorted = new Date().getUTCDate() > 7 ? 2 : 4;
  try {
    for (;;) {
      const { rows } = await client.query<{ fresh: boolean }>(
        `select closed_to = closing_to and closed_to > now() - interval '2 hours'
           and not exists (select from dirty_hours where hour < closed_to)
           and (select count(*) from sorted_months) >= (select count(*) - ${unsorted} from pg_inherits where inhparent = 'tracking_events'::regclass) as fresh
         from rollup_state`,
      );
      if (rows[0]!.fresh) return;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  } finally {
    await client.end();
  }
}
