/**
 * Prints by which way this machine can run the images: `engine` (Docker, one that runs or one of our own), `roots` (no
 * engine; the same image roots under bwrap) or `none`. Why it is not the one before is said on standard error.
 */
import { command } from './command.js';
import { Engine } from './engine.js';
import { installDebian } from './packages.js';

const WAYS: [name: string, attempt: () => Promise<unknown>][] = [
  ['engine', async () => (await Engine.start()).stop()],
  [
    'roots',
    async () => {
      if (process.getuid?.() === 0) await installDebian(['buildah', 'bwrap'], ['buildah', 'bubblewrap']);
      await command('buildah', ['--version']);
      await command('bwrap', ['--ro-bind', '/', '/', 'true']);
    },
  ],
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
