import type { AppName } from '@perkway/domain';
import pg from 'pg';
import { compareWithSql } from './analytics/compare-with-sql.js';
import { ingest } from './analytics/ingest.js';
import { memory } from './analytics/memory.js';
import { users } from './analytics/users.js';
import type { Fleet } from './fleet.js';
import type { Scenario } from './scenario.js';
import { seedEvents } from './seed-events.js';

/** BENCH_EVENTS: how many synthetic events to measure on. */
const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const APPS: AppName[] = ['token-issuer', 'analytics-query'];
const PARTS = { dashboards: compareWithSql, users, ingest, memory };
type Part = keyof typeof PARTS;
/** BENCH_PARTS: some of them, separated by commas. */
const wanted = (process.env.BENCH_PARTS?.split(',') ?? Object.keys(PARTS)) as Part[];

export const scenario: Scenario = {
  title: `Dashboards and ingest over ${EVENTS.toLocaleString('en')} synthetic events (BENCH_EVENTS), parts ${wanted.join(', ')} (BENCH_PARTS)`,
  apps: APPS,
  run: async (fleet) => {
    await seedEvents(fleet.databaseUrl, EVENTS);
    if (wanted.some((part) => part !== 'ingest')) await rollupsAreFresh(fleet);
    let missed = 0;
    for (const part of wanted) missed += await PARTS[part](fleet);
    return missed;
  },
};

/** Until all hours have cells, all months are in order that upkeep brings into it, and nothing is waiting. */
async function rollupsAreFresh(fleet: Fleet): Promise<void> {
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
