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
  EVENTS_URL: baseUrl({ desc: 'Public address of this app' }),
  EVENTS_RETENTION_DAYS: days({
    default: 30,
    desc: 'Days that an event stays in the feed; pending deliveries keep it for up to 10 days. Keep it above TRACKING_MAX_AGE_HOURS, or a replay of the stream brings deleted events back',
  }),
  WEBHOOK_SECRET_KEYS: confidential(
    keyringVariable({
      desc: 'Encrypts the secrets of webhooks. A key stays for as long as webhooks exist whose secret was made with it',
    }),
  ),
  WEBHOOK_ALLOWED_NETWORKS: cidrList({
    default: [],
    desc: 'Addresses and CIDR ranges that webhooks may reach although they are not public, also over http',
  }),
};

export type EventsEnv = CleanedEnv<typeof envSpec>;
