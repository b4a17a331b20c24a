import { tsImport } from 'tsx/esm/api';

/**
 * Starts the servers of this test run once, however many projects ask for it. Jest loads this file by itself, without
 * the projects' transform and module names, hence tsx.
 */
export default async function globalSetup() {
  globalThis.perkwayTestServers ??= tsImport('../src/test-servers.ts', {
    parentURL: import.meta.url,
    tsconfig: new URL('../../../tsconfig.json', import.meta.url).pathname,
  }).then(({ startTestServers }) => startTestServers());
  await globalThis.perkwayTestServers;
}
