import { authEnv } from '@perkway/auth';
import { baseUrl, cidrList, confidential, databaseEnv, platformEnv } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { makeValidator, type CleanedEnv } from 'envalid';

const days = makeValidator((input: string) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 1 || value > 3_650)
    throw new Error('must be a whole number of days from 1 to 3650');
  return value;
});

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  EVENTS_URL: baseUrl({ desc: 'Public URL of this app' }),
  EVENTS_RETENTION_DAYS: days({
    default: 30,
    desc: 'Days that an event stays in the feed: more than TRACKING_MAX_AGE_HOURS, or a replay restores deleted events',
  }),
  WEBHOOK_SECRET_KEYS: confidential(
    keyringVariable({
      desc: 'Encrypts the secrets of webhooks. Keep a key as long as secrets encrypted with it exist',
    }),
  ),
  WEBHOOK_ALLOWED_NETWORKS: cidrList({
    default: [],
    desc: 'Addresses and CIDR ranges that webhooks may reach although they are not public, also over http',
  }),
};

export type EventsEnv = CleanedEnv<typeof envSpec>;
