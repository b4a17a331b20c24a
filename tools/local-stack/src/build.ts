import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { APPS, type AppName } from '@perkway/local-servers';
import { build, type BuildOptions } from 'rolldown';
import { appScript, ROOT } from './paths.js';

/** The apps that can run: those whose folder has an entry point. */
export const existingApps = (): AppName[] =>
  APPS.filter((app) => existsSync(join(ROOT, 'apps', app, 'src', 'main.ts')));

/** When a file or anything below a folder changed last, in epoch milliseconds; 0 if it does not exist. */
function lastChange(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  // A folder's own time tells of files that were removed.
  return readdirSync(path).reduce((last, name) => Math.max(last, lastChange(join(path, name))), stat.mtimeMs);
}

const SHARED = ['libs', 'rolldown.config.mjs', 'tsconfig.base.json', 'package-lock.json'];

/** Bundles each app whose bundle is older than its sources. Answers those that were bundled. */
export async function buildApps(apps: AppName[]): Promise<AppName[]> {
  const config = pathToFileURL(join(ROOT, 'rolldown.config.mjs')).href;
  const { appConfig } = (await import(config)) as { appConfig: (app: string) => BuildOptions };
  const shared = Math.max(...SHARED.map((path) => lastChange(join(ROOT, path))));
  const stale = apps.filter((app) => {
    const built = statSync(appScript(app, 'main'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return built < Math.max(shared, lastChange(join(ROOT, 'apps', app)));
  });
  for (const app of stale) {
    const options = appConfig(app);
    // Nothing is removed first: the apps of another stack may be running, or starting again, from the same folder.
    await build({ ...options, cwd: ROOT, output: { ...options.output, cleanDir: false } });
  }
  return stale;
}
