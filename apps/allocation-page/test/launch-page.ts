import { loadEnv } from '@perkway/platform';
import { launchApp, testEnvironment, type LaunchedApp, type TestEnvironment } from '@perkway/testing';
import { defineApp } from '../src/app.js';
import { allocationPageEnv } from '../src/env.js';
import { pageFiles } from './page-files.js';

/** The app on a free port, with small files in place of the bundled page. */
export const launchPage = (
  given: TestEnvironment,
  variables: Record<string, string> = {},
): Promise<LaunchedApp> => {
  const env = loadEnv(allocationPageEnv, { ...testEnvironment('allocation-page', given), ...variables });
  return launchApp(defineApp(env, pageFiles()));
};
