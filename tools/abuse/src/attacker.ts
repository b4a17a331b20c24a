/**
 * Runs attacks in a process of lowest priority: real attackers have their own machines, so the CPU time of an attack
 * must not slow down the fleet.
 */
import { setPriority } from 'node:os';
import { ATTACKS } from './attacks.js';
import type { Target } from './target.js';

export interface Order {
  attack: string;
  target: Target;
  ms: number;
}

const LAST = 19;
setPriority(LAST);

process.on('message', ({ attack, target, ms }: Order) => {
  const { run } = ATTACKS.find(({ name }) => name === attack)!;
  const before = process.cpuUsage();
  void run(target, ms).then((outcome) => {
    const { user, system } = process.cpuUsage(before);
    process.send!({ ...outcome, cpuMs: (user + system) / 1_000 });
  });
});
process.on('disconnect', () => process.exit());
