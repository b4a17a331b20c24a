/**
 * Finds out how this machine can run the images, and writes it to the file that the argument names: `engine` with its
 * DOCKER_HOST, `roots` (without an engine, image roots under bwrap) or `none`. Standard error says why the better ways do
 * not work. With an engine, it builds the images too. A separate engine runs until this process gets SIGTERM or its parent
 * ends.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Engine } from './engine.js';
import { ImageRoots } from './image-roots.js';
import { buildPrevious } from './images.js';
import { prepareImages, PREVIOUS } from './prepare.js';

const PARENT_POLL_MS = 1_000;

async function startEngine(): Promise<string> {
  const engine = await Engine.start();
  await engine.requireContainers().catch(async (error: unknown) => {
    await engine.stop();
    throw error;
  });
  const stop = async () => {
    await engine.stop().catch((error: Error) => process.stderr.write(`${error.message}\n`));
    process.exit();
  };
  const parent = process.ppid;
  process.once('SIGTERM', () => void stop());
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    void stop();
  }, PARENT_POLL_MS).unref();
  try {
    await prepareImages(engine);
    await buildPrevious(engine, PREVIOUS);
  } catch (error) {
    // The tests build the images again, and fail.
    process.stderr.write(`${(error as Error).message}\n`);
  }
  return `engine ${engine.environment.DOCKER_HOST ?? ''}`;
}

const WAYS: Record<string, () => Promise<string>> = {
  engine: startEngine,
  roots: async () => {
    await ImageRoots.requireContainers();
    return 'roots';
  },
};

let found = 'none';
for (const [name, attempt] of Object.entries(WAYS))
  try {
    found = await attempt();
    break;
  } catch (error) {
    process.stderr.write(`${name} does not work: ${(error as Error).message}\n`);
  }
const file = process.argv[2]!;
writeFileSync(`${file}.new`, `${found}\n`);
renameSync(`${file}.new`, file);
