import type { AppName } from '@perkway/domain';
import { compareWithSql } from './analytics/compare-with-sql.js';
import { ingest } from './analytics/ingest.js';
import { memory } from './analytics/memory.js';
import { rollupsAreFresh } from './analytics/rollups-are-fresh.js';
import { users } from './analytics/users.js';
import type { Scenario } from './scenario.js';
import { seedEvents } from './seed-events.js';

/** BENCH_EVENTS: number of synthetic events. */
const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const APPS: AppName[] = ['token-issuer', 'analytics-query'];
const PARTS = { dashboards: compareWithSql, users, ingest, memory };
type Part = keyof typeof PARTS;
/** BENCH_PARTS: parts to run, separated by commas. */
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
