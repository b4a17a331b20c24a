/**
 * Prints by which way this machine can run the images: `engine` (Docker, one that runs or one of our own), `roots` (no
 * engine; the same image roots under bwrap) or `none`. Why it is not the one before is said on standard error.
 */
import { Engine } from './engine.js';
import { ImageRoots } from './image-roots.js';

const WAYS: [name: string, attempt: () => Promise<unknown>][] = [
  [
    'engine',
    async () => {
      const engine = await Engine.start();
      await engine.tryOut().finally(() => engine.stop());
    },
  ],
  ['roots', () => ImageRoots.tryOut()],
];

let found = 'none';
for (const [name, attempt] of WAYS) {
  const reason = await attempt().then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (reason === undefined) {
    found = name;
    break;
  }
  process.stderr.write(`not by ${name}: ${reason}\n`);
}
process.stdout.write(`${found}\n`);
