import { tsImport } from 'tsx/esm/api';

/**
 * Starts the servers of a test run once for all Jest projects. Jest loads this file without the projects' transform and
 * module mapping, so it needs tsx.
 */
export default async function globalSetup() {
  globalThis.perkwayTestServers ??= tsImport('../src/test-servers.ts', {
    parentURL: import.meta.url,
    tsconfig: new URL('../../../tsconfig.json', import.meta.url).pathname,
  }).then(({ startTestServers }) => startTestServers());
  await globalThis.perkwayTestServers;
}
