import { Engine } from '../../src/engine.js';
import { buildImages, foreignImages } from '../../src/images.js';
import { VERSION } from './engine.js';

const say = (line: string) => process.stdout.write(`containers: ${line}\n`);

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const started = Date.now();
  const result = await work();
  say(`${what} (${Math.round((Date.now() - started) / 1000)} s)`);
  return result;
}

/** An engine, the images that ours start from, and ours. */
export default async function setUp(): Promise<void> {
  const engine = await Engine.start();
  say(engine.description);
  Object.assign(globalThis, { stopEngine: () => engine.stop() });
  // The tests find it as an engine that runs here already.
  Object.assign(process.env, engine.environment);
  const provide = async (image: string) => {
    const how = await engine.provide(image).catch((error: Error) => error.message);
    say(`${image}: ${how}`);
  };
  // Ours start from the first one; much of both is waiting for downloads.
  const [base, ...others] = new Set(foreignImages());
  await provide(base!);
  await Promise.all([
    timed('all images built', () => buildImages(engine, VERSION)),
    (async () => {
      for (const image of others) await provide(image);
    })(),
  ]);
}
