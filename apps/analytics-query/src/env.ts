import { baseUrl, confidential, databaseEnv, platformEnv, postgresUrl } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { makeValidator, num, type CleanedEnv } from 'envalid';

/** More would only cost; two survive no more than one. */
const oneOrThree = makeValidator((input: string) => {
  if (!['1', '3'].includes(input)) throw new Error('must be 1 or 3');
  return Number(input);
});

const ROLES = ['ingest', 'query'] as const;
export type AnalyticsRole = (typeof ROLES)[number];

const roles = makeValidator((input: string): AnalyticsRole[] => {
  const given = [...new Set(input.split(',').map((role) => role.trim()))];
  if (!given.every((role): role is AnalyticsRole => (ROLES as readonly string[]).includes(role)))
    throw new Error('must be ingest, query or both separated by a comma');
  return given;
});

const positive = makeValidator((input: string) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 1) throw new Error('must be a whole number above 0');
  return value;
});

const monthsKept = makeValidator((input: string) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 0)
    throw new Error('must be a whole number of months, 0 to keep all');
  return value;
});

const month = makeValidator((input: string) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 1 || value > 12) throw new Error('must be a month from 1 to 12');
  return value;
});

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  QUERY_URL: baseUrl({ desc: 'Public address of this app' }),
  ANALYTICS_ROLES: roles({ default: ['ingest', 'query'], desc: 'ingest, query or both' }),
  READER_DATABASE_URL: confidential(postgresUrl({ desc: 'The role analytics_reader, which only reads' })),
  READER_POOL_SIZE: positive({ default: 8, desc: 'Queries that run at once' }),
  QUERY_TIMEOUT_MS: positive({ default: 20_000, desc: 'Time limit of one query' }),
  QUERY_CONCURRENCY: positive({ default: 4, desc: 'Queries of one account that run at once' }),
  QUERY_HEAVY_CONCURRENCY: positive({
    default: 1,
    desc: 'Queries known to take longer than 50 ms that run at once: fewer than the database has processors',
  }),
  QUERY_QUEUE: positive({ default: 100, desc: 'Queries of one account that may wait' }),
  FISCAL_YEAR_START: month({ default: 1, desc: 'Month that a fiscal year begins with, 1 to 12' }),
  RETENTION_MONTHS: monthsKept({
    default: 0,
    desc: 'Whole months of events kept beside the current one (UTC), the same for both roles; 0 keeps all',
  }),
  ERASURE_KEYS: confidential(
    keyringVariable({
      desc: 'Knows journeys that were erased when they come again. A key stays for as long as they may, which is for ever',
    }),
  ),
  ROLLUP_INTERVAL_MS: positive({ default: 10_000, desc: 'Time between two refreshes of the rollups' }),
  UPKEEP_INTERVAL_MS: positive({
    default: 600_000,
    desc: 'Time between two looks at partitions: made ahead, brought into order, dropped',
  }),
  TRACKING_REPLICAS: oneOrThree({ default: 1, desc: 'Servers that keep the streams: 1 or, of a cluster, 3' }),
  TRACKING_MAX_BYTES: num({
    default: 2 * 1024 ** 3,
    desc: 'Size of the stream; -1 for none. Near it the oldest stored events go; with none to go it refuses new ones, which wait in the outboxes',
  }),
  TRACKING_MAX_AGE_HOURS: positive({
    default: 7 * 24,
    desc: 'How long the stream keeps events, stored or not: so far back they can be replayed',
  }),
};

export type AnalyticsQueryEnv = CleanedEnv<typeof envSpec>;
