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

/** Provides an engine, the base images, and our images. */
export default async function setUp(): Promise<void> {
  const engine = await Engine.start();
  say(engine.description);
  Object.assign(globalThis, { stopEngine: () => engine.stop() });
  // The tests find it as a running engine.
  Object.assign(process.env, engine.environment);
  const provide = async (image: string) => {
    const how = await engine.provide(image).catch((error: Error) => error.message);
    say(`${image}: ${how}`);
  };
  // Our images start from the first one. In parallel, because most of it is waiting for downloads.
  const [base, ...others] = new Set(foreignImages());
  await provide(base!);
  await Promise.all([
    timed('all images built', () => buildImages(engine, VERSION)),
    (async () => {
      for (const image of others) await provide(image);
    })(),
  ]);
}
