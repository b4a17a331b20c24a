import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Engine } from '../../src/engine.js';
import { prepareImages } from '../../src/prepare.js';

/**
 * The processor share of all containers together, with version 1 of control groups. By default it is that of one process
 * outside, so the engine, compose and the load generator would take most of the time from the fleet.
 */
const SHARES_FILE = '/sys/fs/cgroup/cpu/docker/cpu.shares';
const SHARES = '10240';

/** Provides an engine, the base images, and our images. */
export default async function setUp(): Promise<void> {
  const engine = await Engine.start();
  const before = existsSync(SHARES_FILE) ? readFileSync(SHARES_FILE, 'utf8') : undefined;
  const stopEngine = async () => {
    if (before) writeFileSync(SHARES_FILE, before);
    await engine.stop();
  };
  Object.assign(globalThis, { stopEngine });
  // The tests find it as a running engine.
  Object.assign(process.env, engine.environment);
  await prepareImages(engine);
  if (before && process.getuid?.() === 0) writeFileSync(SHARES_FILE, SHARES);
}
