import { runFolder, runNode } from '@perkway/testing';
import { join } from 'node:path';

const ROLLDOWN = 'node_modules/rolldown/bin/cli.mjs';
let bundled: Promise<string> | undefined;

/** Bundles the audit once per spec, because compiling it takes a second of every run. */
async function bundle(): Promise<string> {
  const file = join(runFolder('audit'), 'audit.mjs');
  const { exitCode, output } = await runNode([
    ROLLDOWN,
    'tools/audit/src/main.ts',
    '--file',
    file,
    '--platform',
    'node',
  ]);
  if (exitCode !== 0) throw new Error(output);
  return file;
}

/** Runs `npm run audit` against this database. */
export const audit = async (databaseUrl: string): ReturnType<typeof runNode> =>
  runNode([await (bundled ??= bundle())], { env: { DATABASE_URL: databaseUrl } });
