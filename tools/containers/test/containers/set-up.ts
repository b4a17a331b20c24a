import { Engine } from '../../src/engine.js';
import { prepareImages } from '../../src/prepare.js';

/** Provides an engine, the base images, and our images. */
export default async function setUp(): Promise<void> {
  const engine = await Engine.start();
  Object.assign(globalThis, { stopEngine: () => engine.stop() });
  // The tests find it as a running engine.
  Object.assign(process.env, engine.environment);
  await prepareImages(engine);
}
