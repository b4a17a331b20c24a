/**
 * A process of its own, and one that waits for all others: an attacker has machines of his own, and what an attack costs
 * whoever makes it is not to be taken for what it costs others.
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
