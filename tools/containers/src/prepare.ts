import type { Engine } from './engine.js';
import { buildImages, foreignImages } from './images.js';

/** The tags of the images under test, and of those of the previous commit. */
export const VERSION = 'test';
export const PREVIOUS = 'previous';

const say = (line: string) => process.stdout.write(`containers: ${line}\n`);

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const started = Date.now();
  const result = await work();
  say(`${what} (${Math.round((Date.now() - started) / 1000)} s)`);
  return result;
}

/** Provides the base images and ours. Repeated builds come from Docker's cache. */
export async function prepareImages(engine: Engine): Promise<void> {
  say(engine.description);
  const provide = async (image: string) => {
    const how = await engine.provide(image).catch((error: Error) => error.message);
    say(`${image}: ${how}`);
  };
  // Our images are built from the first one. The other downloads run in parallel with the builds.
  const [base, ...others] = new Set(foreignImages());
  await provide(base!);
  await Promise.all([
    timed('all images built', () => buildImages(engine, VERSION)),
    (async () => {
      for (const image of others) await provide(image);
    })(),
  ]);
}
