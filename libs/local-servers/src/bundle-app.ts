import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppName } from '@perkway/domain';
import { run } from './server-process.js';

const ROOT = join(import.meta.dirname, '../../..');
const TIMEOUT_MS = 180_000;

/** Bundles an app or the operator's commands as the build does, in a subfolder of `folder`. Returns the subfolder. */
export async function bundleApp(app: AppName | 'perkway', folder: string): Promise<string> {
  // Bundles resolve npm packages here.
  await symlink(join(ROOT, 'dist/node_modules'), join(folder, 'node_modules')).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
  const bundle = join(folder, app);
  const rolldown = join(ROOT, 'node_modules/rolldown/bin/cli.mjs');
  await run(process.execPath, [rolldown, '-c', 'rolldown.config.mjs', '-d', bundle], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, APP: app },
    timeoutMs: TIMEOUT_MS,
  });
  return bundle;
}
