import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../compare.js';
import type { Fleet } from '../fleet.js';
import { analyticsClient, judge, ms, timed } from './analytics-client.js';
import { DASHBOARDS, time } from './dashboards.js';

/** The slowest query: a year of rows without rollups. */
const HEAVY = {
  measures: ['teaser_views.count'],
  dimensions: ['teaser_views.cmeta_plan', 'teaser_views.utm_source'],
  ...time('teaser_views', undefined, 365),
};
const LIVE = DASHBOARDS.find(({ name }) => name.startsWith('12'))!.query;
const percentile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!;
const DURATION_MS = 8_000;
/** Other accounts count as active for 10 s after a small query. Without active ones, heavy queries get no cooldown. */
const ALONE_AFTER_MS = 11_000;

/** Repeats a request until the time is over. @returns milliseconds of each */
async function untilOver(
  users: number,
  sendRequest: () => Promise<unknown>,
  over: () => boolean,
): Promise<number[]> {
  const took: number[] = [];
  await Promise.all(
    Array.from({ length: users }, async () => {
      while (!over()) took.push(await timed(sendRequest));
    }),
  );
  return took;
}

export async function users(fleet: Fleet): Promise<number> {
  return (await manyUsers(fleet)) + (await neighbours(fleet));
}

/** Fifty users view dashboards of one account. */
async function manyUsers(fleet: Fleet): Promise<number> {
  await sleep(ALONE_AFTER_MS);
  const analytics = await analyticsClient(fleet, 'synthetic-01');
  const end = Date.now() + DURATION_MS;
  let next = 0;
  const took = await untilOver(
    50,
    () => analytics.load(DASHBOARDS[(next += 1) % DASHBOARDS.length]!.query),
    () => Date.now() > end,
  );
  const p99 = percentile(took, 0.99);
  return judge(
    `\n50 users of one account: ${((took.length * 1000) / DURATION_MS).toFixed(0)} responses/s, p50 ${ms(median(took))} ms, p99 ${ms(p99)} ms; target 1000 ms`,
    p99 <= 1000,
  );
}

/** Ten users on each of three accounts run the heaviest query, while a fourth account runs a small one. */
async function neighbours(fleet: Fleet): Promise<number> {
  const fourth = await analyticsClient(fleet, 'synthetic-10');
  const live = async (over: () => boolean) => median(await untilOver(1, () => fourth.load(LIVE), over));
  const soon = Date.now() + DURATION_MS / 4;
  const alone = await live(() => Date.now() > soon);
  const heavy = await Promise.all(
    ['synthetic-01', 'synthetic-02', 'synthetic-03'].map((account) => analyticsClient(fleet, account)),
  );
  const end = Date.now() + DURATION_MS;
  const over = () => Date.now() > end;
  // Different offsets, because equal queries share one run.
  const users = heavy.map((each, at) => {
    let offset = at;
    return untilOver(10, () => each.load({ ...HEAVY, offset: (offset += 1) % 7 }), over);
  });
  const among = await live(over);
  const responses = (await Promise.all(users)).flat().length;
  return judge(
    `a fourth account's live query: ${ms(alone)} ms alone, ${ms(among)} ms while 30 users run the heaviest query on three accounts (${responses} responses): ${(among / alone).toFixed(2)}; target 2.00`,
    among <= 2 * alone,
  );
}
