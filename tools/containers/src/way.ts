/**
 * Prints how this machine can run the images: `engine` (Docker, running or separate), `roots` (without an engine, image
 * roots under bwrap) or `none`. Standard error says why the better ways do not work.
 */
import { Engine } from './engine.js';
import { ImageRoots } from './image-roots.js';

const WAYS: [name: string, attempt: () => Promise<unknown>][] = [
  [
    'engine',
    async () => {
      const engine = await Engine.start();
      await engine.requireContainers().finally(() => engine.stop());
    },
  ],
  ['roots', () => ImageRoots.requireContainers()],
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
  process.stderr.write(`${name} does not work: ${reason}\n`);
}
process.stdout.write(`${found}\n`);
