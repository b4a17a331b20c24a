import { loadEnv } from '@perkway/platform';
import { launchApp, testEnvironment, type LaunchedApp, type TestEnvironment } from '@perkway/testing';
import { defineApp } from '../src/app.js';
import { envSpec } from '../src/env.js';
import { pageFiles } from './page-files.js';

/** Launches the app on a free port, with small files instead of the bundled page. */
export const launchPage = (
  given: TestEnvironment,
  variables: Record<string, string> = {},
): Promise<LaunchedApp> => {
  const environment = {
    ...testEnvironment('allocation-page', given),
    ASSETS_FOLDER: pageFiles(),
    ...variables,
  };
  return launchApp(defineApp(loadEnv(envSpec, environment)));
};
