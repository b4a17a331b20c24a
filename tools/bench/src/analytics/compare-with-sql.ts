import pg from 'pg';
import { median } from '../compare.js';
import type { Fleet } from '../fleet.js';
import { analyticsClient, ms, timed, write, type AnalyticsClient } from './analytics-client.js';
import { DASHBOARDS, LIVE_LIMIT_MS, type Dashboard } from './dashboards.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
/** Warm-up runs of each query, because a new process still compiles its code. */
const WARM_UP = 25;
const RATIO_TARGET = 1.3;
/** For the largest account, on two idle cores. */
const LIMIT_MS = 100;
/** Milliseconds per round. */
type Samples = number[];

/** Compares dashboard queries over HTTP with the best handwritten SQL, for the largest and the smallest account. */
export async function compareWithSql(fleet: Fleet): Promise<number> {
  const client = new pg.Client({
    connectionString: fleet.databaseUrl,
    options: '-c search_path=analytics -c random_page_cost=1.1',
  });
  await client.connect();
  let missed = 0;
  try {
    for (const [account, isBiggest] of [
      ['synthetic-01', true],
      ['synthetic-20', false],
    ] as const) {
      write(
        `\n${account}, ${isBiggest ? 'the largest' : 'the smallest'} account: median of ${ROUNDS} alternating rounds`,
      );
      write(`${''.padEnd(54)}HTTP ms  best SQL ms  HTTP / SQL`);
      const analytics = await analyticsClient(fleet, account);
      for (let time = 0; time < WARM_UP; time += 1)
        for (const { query } of DASHBOARDS) await analytics.load(query);
      for (const dashboard of DASHBOARDS)
        missed += await measure(dashboard, analytics, client, account, isBiggest);
    }
  } finally {
    await client.end();
  }
  return missed;
}

async function measure(
  { name, query, best, limitMs = LIMIT_MS }: Dashboard,
  analytics: AnalyticsClient,
  client: pg.Client,
  account: string,
  isBiggest: boolean,
): Promise<number> {
  const http: Samples = [];
  const sql: Samples[] = best.map(() => []);
  for (let round = -1; round < ROUNDS; round += 1) {
    const first = await timed(() => analytics.load(query));
    // The first round is a warm-up.
    if (round >= 0) http.push(first);
    for (const [way, text] of best.entries()) {
      const took = await timed(async () => {
        for (const statement of text.split(';')) await client.query(statement, [account]);
      });
      if (round >= 0) sql[way]!.push(took);
    }
  }
  const fastest = Math.min(...sql.map(median));
  const ratio = median(http) / fastest;
  const isSlow = isBiggest && median(http) > limitMs;
  // Below a few milliseconds the HTTP request itself dominates.
  const isBehind = ratio > RATIO_TARGET && median(http) > LIVE_LIMIT_MS;
  write(
    `${name.padEnd(52)}${ms(median(http))} ${ms(fastest)}     ${ratio.toFixed(2).padStart(6)}  ${isSlow || isBehind ? 'MISSED' : 'held'}`,
  );
  return isSlow || isBehind ? 1 : 0;
}
