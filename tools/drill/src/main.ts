/**
 * Plays an outage through on a fleet of its own, and prints what was answered and what is there: `npm run drill -- failover | restore [--profile full | ci]`.
 * Ends with 0 when there is no difference but the expected one, 1 when there is, 2 when the drill could not be held.
 */
import { parseArgs } from 'node:util';
import type { Profile } from './account.js';
import { drillFailover } from './failover.js';
import { drillRestore } from './restore.js';

/** By name; each answers whether everything is as it should be. */
const DRILLS: Record<string, (profile: Profile) => Promise<boolean>> = {
  failover: drillFailover,
  restore: drillRestore,
};
const PROFILES: Record<string, Profile> = {
  full: { replicas: 2, cards: 3_000, stretchMs: 10_000 },
  ci: { replicas: 1, cards: 600, stretchMs: 2_500 },
};

try {
  const { values, positionals } = parseArgs({
    options: { profile: { type: 'string', default: 'full' } },
    allowPositionals: true,
  });
  const [drill, profile] = [DRILLS[positionals[0] ?? ''], PROFILES[values.profile]];
  if (!drill) throw new Error(`name one: ${Object.keys(DRILLS).join(', ')}`);
  if (!profile) throw new Error(`--profile is one of ${Object.keys(PROFILES).join(', ')}`);
  process.exitCode = (await drill(profile)) ? 0 : 1;
} catch (error) {
  process.stderr.write(`The drill could not be held: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
// What still waits for a time limit keeps nobody.
process.exit();
