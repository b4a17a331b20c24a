import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import startServers from '../../../../libs/testing/jest/global-setup.mjs';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** Bundles the app and its page like the build does, so that no outdated bundle is tested. */
export default async function globalSetup() {
  await promisify(execFile)(
    process.execPath,
    ['node_modules/rolldown/bin/cli.mjs', '-c', 'rolldown.config.mjs'],
    {
      cwd: root,
      env: { ...process.env, APP: 'allocation-page' },
      timeout: 60_000,
    },
  );
  await startServers();
}
