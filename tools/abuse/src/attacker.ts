/** A process of its own, so that what an attack costs whoever makes it is not taken for what it costs others. */
import { ATTACKS } from './attacks.js';
import type { Target } from './target.js';

export interface Order {
  attack: string;
  target: Target;
  ms: number;
}

process.on('message', ({ attack, target, ms }: Order) => {
  const { run } = ATTACKS.find(({ name }) => name === attack)!;
  void run(target, ms).then((outcome) => process.send!(outcome));
});
process.on('disconnect', () => process.exit());
