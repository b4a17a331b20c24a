import type { AppName } from '@perkway/domain';
import { distributeOver, startCitus } from '@perkway/local-servers';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { analyticsClient, ms, timed, write } from './analytics/analytics-client.js';
import { DASHBOARDS } from './analytics/dashboards.js';
import { burst, endToEnd, Publisher, type Sent } from './analytics/ingest.js';
import { rollupsAreFresh } from './analytics/rollups-are-fresh.js';
import { median } from './compare.js';
import { Fleet } from './fleet.js';
import type { Scenario } from './scenario.js';
import { seedEvents } from './seed-events.js';

const APPS: AppName[] = ['token-issuer', 'analytics-query'];
const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const INGEST_ROUNDS = Number(process.env.BENCH_INGEST_ROUNDS ?? 3);
/** Rollups, a join with a table that every node has, groups and distinct journeys of raw rows, and live figures. */
const QUERIES = ['1 ', '3 ', '7 ', '10 ', '12 '];
const ACCOUNT = 'synthetic-01';
const SENT: [what: string, sent: Sent, work: typeof endToEnd][] = [
  [
    '20 events per message, published and stored at the same time',
    { events: 40_000, perMessage: 20 },
    endToEnd,
  ],
  ['1,000 events per message, from the stream', { events: 60_000, perMessage: 1_000 }, burst],
];

const programs = process.env.PERKWAY_TEST_CITUS;

/**
 * Runs both in alternating rounds after a warm-up. @returns the medians, and the median of the ratios within each round
 */
async function inTurn(
  rounds: number,
  plain: () => Promise<number>,
  citus: () => Promise<number>,
): Promise<{ plain: number; citus: number; ratio: number }> {
  const times: { plain: number; citus: number }[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const took = { plain: await plain(), citus: await citus() };
    if (round >= 0) times.push(took);
  }
  return {
    plain: median(times.map((took) => took.plain)),
    citus: median(times.map((took) => took.citus)),
    ratio: median(times.map((took) => took.citus / took.plain)),
  };
}

/** Compares dashboard queries over HTTP, for the largest account. */
async function queries(plain: Fleet, citus: Fleet): Promise<void> {
  const [ofPlain, ofCitus] = [await analyticsClient(plain, ACCOUNT), await analyticsClient(citus, ACCOUNT)];
  for (const { name, query } of DASHBOARDS.filter(({ name }) =>
    QUERIES.some((each) => name.startsWith(each)),
  )) {
    const took = await inTurn(
      ROUNDS,
      () => timed(() => ofPlain.load(query)),
      () => timed(() => ofCitus.load(query)),
    );
    write(`${name.padEnd(52)}${ms(took.plain)} ${ms(took.citus)}  ${took.ratio.toFixed(2).padStart(13)}`);
  }
}

async function ingest(plain: Fleet, citus: Fleet): Promise<void> {
  const [toPlain, toCitus] = [await Publisher.connect(plain.natsUrl), await Publisher.connect(citus.natsUrl)];
  try {
    for (const [what, sent, work] of SENT) {
      const took = await inTurn(
        INGEST_ROUNDS,
        () => work(plain, toPlain, sent),
        () => work(citus, toCitus, sent),
      );
      write(
        `${`${sent.events} events, ${what}`.padEnd(52)}${ms(took.plain)} ${ms(took.citus)}  ${took.ratio.toFixed(2).padStart(13)}`,
      );
    }
  } finally {
    await Promise.all([toPlain.close(), toCitus.close()]);
  }
}

/** Started by `npm run citus`, which builds Citus. */
export const scenario: Scenario = {
  title: `Citus (a coordinator, two workers) and plain Postgres of the same version, ${EVENTS.toLocaleString('en')} synthetic events (BENCH_EVENTS)`,
  apps: APPS,
  programs,
  run: async (plain) => {
    if (!programs)
      throw new Error(
        'PERKWAY_TEST_CITUS is not set. Run it with `CITUS_SOURCE=<folder> npm run citus -- ratios`.',
      );
    const folder = await mkdtemp(join(tmpdir(), 'perkway-citus-'));
    const { coordinator, workers } = await startCitus({
      programs,
      folder,
      durable: true,
      dieWithParent: true,
    });
    const citus = await Fleet.start(APPS, () => undefined, { server: coordinator.url });
    try {
      for (const fleet of [plain, citus]) await seedEvents(fleet.databaseUrl, EVENTS);
      await Promise.all([plain, citus].map(rollupsAreFresh));
      // Distribution keeps the physical order of rows.
      await citus.halt('analytics-query');
      await distributeOver(
        citus.databaseUrl,
        workers.map(({ url }) => url),
      );
      await citus.startApp('analytics-query');
      write(`\n${''.padEnd(52)}plain ms  Citus ms  Citus / plain`);
      await queries(plain, citus);
      await ingest(plain, citus);
    } finally {
      await citus.stop();
      await Promise.all([coordinator, ...workers].map((server) => server.stop()));
      await rm(folder, { recursive: true, force: true });
    }
    return 0;
  },
};
