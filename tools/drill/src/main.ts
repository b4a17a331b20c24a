/**
 * Plays an outage through on a fleet of its own, and prints what was answered and what is there: `npm run drill -- failover | restore`.
 * Ends with 0 when there is no difference but the expected one, 1 when there is, 2 when the drill could not be held.
 */
import { drillFailover } from './failover.js';
import { drillRestore } from './restore.js';

/** By name; each answers whether everything is as it should be. */
const DRILLS: Record<string, () => Promise<boolean>> = { failover: drillFailover, restore: drillRestore };

try {
  const drill = DRILLS[process.argv[2] ?? ''];
  if (!drill) throw new Error(`name one: ${Object.keys(DRILLS).join(', ')}`);
  process.exitCode = (await drill()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`The drill could not be held: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
// What still waits for a time limit keeps nobody.
process.exit();
