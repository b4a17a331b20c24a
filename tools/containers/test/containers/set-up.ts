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
  for (const image of new Set(foreignImages())) {
    const how = await engine.provide(image).catch((error: Error) => error.message);
    say(`${image}: ${how}`);
  }
  await timed('all images built', () => buildImages(engine, VERSION));
}
