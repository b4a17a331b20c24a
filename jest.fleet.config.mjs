import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(fileURLToPath(import.meta.url));
const folders = ['apps', 'libs', 'tools']
  .flatMap((parent) => readdirSync(join(ROOT, parent)).map((name) => join(ROOT, parent, name)))
  .filter((folder) => existsSync(join(folder, 'jest.config.mjs')));

/** `npm run test:fleet`: tests that start several processes of built apps, several brokers or a standby. */
export default {
  projects: await Promise.all(
    folders.map(async (rootDir) => ({
      ...(await import(join(rootDir, 'jest.config.mjs'))).default,
      rootDir,
      testMatch: ['<rootDir>/test/*.fleet-spec.ts'],
    })),
  ),
  testTimeout: 60_000,
  // Each file starts many processes.
  maxWorkers: 2,
};
