import { readCommandLine, refuseUsage } from '@perkway/command-line';
import type { Profile } from './account.js';
import { drillFailover } from './failover.js';
import { drillRestore } from './restore.js';

const USAGE = `npm run drill -- failover|restore [--profile full|ci]

Simulates an outage of a test fleet and compares acknowledged requests with stored rows. Exits with 0 if there are no
unexpected differences, 1 if there are, 2 if the drill could not run.

  failover           kills the primary database twice: with its standby in sync, and with the standby disconnected
  restore            restores a base backup twice: with the whole write-ahead log, and without its last seconds
  --profile full|ci  default: full; ci is shorter`;

/** By name. Each returns whether all expectations hold. */
const DRILLS: Record<string, (profile: Profile) => Promise<boolean>> = {
  failover: drillFailover,
  restore: drillRestore,
};
const PROFILES: Record<string, Profile> = {
  full: { replicas: 2, cards: 3_000, stretchMs: 10_000 },
  ci: { replicas: 1, cards: 600, stretchMs: 2_500 },
};

try {
  const { values, positionals } = readCommandLine(USAGE, {
    options: { profile: { type: 'string', default: 'full' } },
    allowPositionals: true,
  });
  const [drill, profile] = [DRILLS[positionals[0] ?? ''], PROFILES[values.profile]];
  if (!drill || positionals.length > 1) refuseUsage(`Name one drill: ${Object.keys(DRILLS).join(', ')}`);
  if (!profile) refuseUsage(`--profile must be one of ${Object.keys(PROFILES).join(', ')}`);
  process.exitCode = (await drill(profile)) ? 0 : 1;
} catch (error) {
  process.stderr.write(`The drill could not run: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
// Exit without waiting for pending timers.
process.exit();
