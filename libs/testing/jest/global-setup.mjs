import { tsImport } from 'tsx/esm/api';

/**
 * Starts the servers of a test run. Jest loads this file without the transform and module mapping of the tests, so it
 * needs tsx.
 */
export default async function globalSetup() {
  const { startTestServers } = await tsImport('../src/test-servers.ts', {
    parentURL: import.meta.url,
    tsconfig: new URL('../../../tsconfig.json', import.meta.url).pathname,
  });
  globalThis.perkwayTestServers = await startTestServers();
}
