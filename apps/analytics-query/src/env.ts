import { baseUrl, confidential, databaseEnv, platformEnv, postgresUrl } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { makeValidator, num, type CleanedEnv } from 'envalid';

/** JetStream replicas: a stream on two servers survives no more failures than on one. */
const oneOrThree = makeValidator((input: string) => {
  if (!['1', '3'].includes(input)) throw new Error('must be 1 or 3');
  return Number(input);
});

const ROLES = ['ingest', 'query'] as const;
export type AnalyticsRole = (typeof ROLES)[number];

const roles = makeValidator((input: string): AnalyticsRole[] => {
  const given = [...new Set(input.split(',').map((role) => role.trim()))];
  if (!given.every((role): role is AnalyticsRole => (ROLES as readonly string[]).includes(role)))
    throw new Error('must be ingest, query or both, separated by a comma');
  return given;
});

const positive = makeValidator((input: string) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 1) throw new Error('must be a whole number above 0');
  return value;
});

const nonNegative = makeValidator((input: string) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 0) throw new Error('must be a whole number of at least 0');
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
  QUERY_URL: baseUrl({ desc: 'Public URL of this app' }),
  ANALYTICS_ROLES: roles({ default: ['ingest', 'query'], desc: 'ingest, query or both' }),
  READER_DATABASE_URL: confidential(postgresUrl({ desc: 'URL of the read-only role analytics_reader' })),
  READER_POOL_SIZE: positive({ default: 8, desc: 'Queries that run at once' }),
  QUERY_TIMEOUT_MS: positive({ default: 20_000, desc: 'Timeout of one query' }),
  QUERY_CONCURRENCY: positive({ default: 4, desc: 'Queries of one account that run at once' }),
  QUERY_HEAVY_CONCURRENCY: positive({
    default: 1,
    desc: 'Queries known to be slower than 50 ms that run at once: fewer than the database has processors',
  }),
  QUERY_QUEUE: positive({ default: 100, desc: 'Queries of one account that may wait in its queue' }),
  RATE_LIMIT_PER_ACCOUNT: nonNegative({
    default: 500,
    desc: 'Requests per second of one account to the query host, across all replicas; 0: no limit',
  }),
  FISCAL_YEAR_START: month({ default: 1, desc: 'First month of the fiscal year, 1 to 12' }),
  RETENTION_MONTHS: monthsKept({
    default: 0,
    desc: 'Whole months of events kept besides the current one (UTC); must be the same for both roles; 0 keeps all',
  }),
  ERASURE_KEYS: confidential(
    keyringVariable({
      desc: 'Hashes erased journeys, to recognize their late events. Never remove a key: a late event may come at any time',
    }),
  ),
  ROLLUP_INTERVAL_MS: positive({ default: 10_000, desc: 'Interval between refreshes of the rollups' }),
  UPKEEP_INTERVAL_MS: positive({
    default: 600_000,
    desc: 'Interval between partition maintenance runs: months are created ahead, sorted and dropped',
  }),
  TRACKING_REPLICAS: oneOrThree({ default: 1, desc: 'Replicas of the streams: 1, or 3 in a NATS cluster' }),
  TRACKING_MAX_BYTES: num({
    default: 2 * 1024 ** 3,
    desc: 'Maximum bytes of the stream; -1: no limit. The oldest stored events are deleted at 80%; a full stream rejects new ones',
  }),
  TRACKING_MAX_AGE_HOURS: positive({
    default: 7 * 24,
    desc: 'How long the stream keeps events, counted or not, so that they can be replayed',
  }),
};

export type AnalyticsQueryEnv = CleanedEnv<typeof envSpec>;
