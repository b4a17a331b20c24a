import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { AppName } from '@perkway/domain';
import { APPS } from '@perkway/fleet';
import { isAlive } from '@perkway/local-servers';
import { build, type BuildOptions } from 'rolldown';
import { appScript, ROOT } from './paths.js';

/** The apps that have an entry point. */
export const existingApps = (): AppName[] =>
  APPS.filter((app) => existsSync(join(ROOT, 'apps', app, 'src', 'main.ts')));

/** Returns when a file, or anything in a folder, last changed, in epoch milliseconds; 0 if it does not exist. */
function lastChange(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  // A removed file changes the time of its folder.
  return readdirSync(path).reduce((last, name) => Math.max(last, lastChange(join(path, name))), stat.mtimeMs);
}

/** The console shows pages of docs. */
const MORE_SOURCES: Partial<Record<AppName, string>> = { console: 'docs' };
const SHARED = ['libs', 'rolldown.config.mjs', 'tsconfig.base.json', 'package-lock.json'];

/** Maximum wait for one holder of the lock. No build takes this long, so by then its pid belongs to another program. */
const BUILD_LIMIT_MS = 60_000;

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Runs `work` while no other process holds the file `lock`. The lock of a killed process does not count. */
export async function alone<T>(lock: string, work: () => Promise<T>): Promise<T> {
  const mine = `${lock}.${process.pid}`;
  mkdirSync(dirname(lock), { recursive: true });
  writeFileSync(mine, String(process.pid));
  try {
    let lastHolder: number | undefined;
    let deadline = 0;
    // A link appears with its contents, so a lock always names its holder.
    while (!tryLink(mine, lock)) {
      const holder = Number(readIfThere(lock));
      if (holder !== lastHolder) [lastHolder, deadline] = [holder, Date.now() + BUILD_LIMIT_MS];
      if ((holder > 0 && !isAlive(holder)) || Date.now() > deadline) rmSync(lock, { force: true });
      else await sleep(100);
    }
  } finally {
    rmSync(mine);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Bundles each app whose bundle is older than its sources, and returns those that it bundled. Stacks that start at the
 * same time take turns, because a build first empties the folder that another stack may be starting from.
 */
export async function buildApps(apps: AppName[]): Promise<AppName[]> {
  const config = pathToFileURL(join(ROOT, 'rolldown.config.mjs')).href;
  const { appConfig } = (await import(config)) as { appConfig: (app: string) => BuildOptions };
  const shared = Math.max(...SHARED.map((path) => lastChange(join(ROOT, path))));
  return alone(join(ROOT, '.local', 'build.lock'), async () => {
    const stale = apps.filter((app) => {
      const built = statSync(appScript(app, 'main'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
      const sources = [join('apps', app), MORE_SOURCES[app] ?? []].flat();
      return built < Math.max(shared, ...sources.map((path) => lastChange(join(ROOT, path))));
    });
    for (const app of stale) await build({ ...appConfig(app), cwd: ROOT });
    return stale;
  });
}
