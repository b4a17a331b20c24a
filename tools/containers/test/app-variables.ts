import type { ValidatorSpec } from 'envalid';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/paths.js';

/** The folders of the apps. */
export const APP_FOLDERS = readdirSync(join(ROOT, 'apps')).filter((app) =>
  existsSync(join(ROOT, 'apps', app, 'src/main.ts')),
);
export const appsWithASchema = APP_FOLDERS.filter((app) =>
  existsSync(join(ROOT, 'apps', app, 'src/migrate.ts')),
);

/** What an app itself says that it reads. Not imported by name: tools know nothing of apps. */
export const specOf = (app: string): Record<string, ValidatorSpec<unknown>> =>
  jest.requireActual(join(ROOT, 'apps', app, 'src/env.ts')).envSpec;

export const variablesOf = (app: string): string[] => Object.keys(specOf(app));
export const neededBy = (app: string): string[] =>
  Object.entries(specOf(app))
    .filter(([, validator]) => !('default' in validator))
    .map(([name]) => name);

/** Read by Node, not by an app. */
export const NODE_VARIABLES = ['NODE_ENV', 'NODE_OPTIONS'];
/** What the Dockerfile sets for every app. */
export const IMAGE_VARIABLES = ['HOST', 'PORT', 'METRICS_PORT', 'SHUTDOWN_DELAY_MS', 'NODE_ENV'];
