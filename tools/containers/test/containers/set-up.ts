import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Engine } from '../../src/engine.js';
import { prepareImages } from '../../src/prepare.js';

/**
 * The CPU shares of all containers together (cgroups version 1). By default, all of them together get as much as one
 * process outside, so the engine, compose and the load generator would leave the fleet little time.
 */
const SHARES_FILE = '/sys/fs/cgroup/cpu/docker/cpu.shares';
const SHARES = '10240';

/** Provides an engine, the base images, and our images. */
export default async function setUp(): Promise<void> {
  const engine = await Engine.start();
  const finish = (stopEngine: () => Promise<void>) => Object.assign(globalThis, { stopEngine });
  finish(() => engine.stop());
  // The tests find it as a running engine.
  Object.assign(process.env, engine.environment);
  await prepareImages(engine);
  // The file exists once the engine has run a container.
  if (process.getuid?.() !== 0 || !existsSync(SHARES_FILE)) return;
  const before = readFileSync(SHARES_FILE, 'utf8');
  writeFileSync(SHARES_FILE, SHARES);
  finish(() => {
    writeFileSync(SHARES_FILE, before);
    return engine.stop();
  });
}
