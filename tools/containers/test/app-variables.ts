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

/** Returns the variables that an app declares. Loaded by path, because tools may not import apps. */
export const specOf = (app: string): Record<string, ValidatorSpec<unknown>> =>
  jest.requireActual(join(ROOT, 'apps', app, 'src/env.ts')).envSpec;

export const variablesOf = (app: string): string[] => Object.keys(specOf(app));
export const neededBy = (app: string): string[] =>
  Object.entries(specOf(app))
    .filter(([, validator]) => !('default' in validator))
    .map(([name]) => name);

/** Read by Node, not by an app. */
export const NODE_VARIABLES = ['NODE_ENV', 'NODE_OPTIONS'];
/** Variables that the Dockerfile sets for every app. */
export const IMAGE_VARIABLES = ['HOST', 'PORT', 'METRICS_PORT', 'SHUTDOWN_DELAY_MS', 'NODE_ENV'];
