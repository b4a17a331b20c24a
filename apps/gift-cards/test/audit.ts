import { runNode } from '@perkway/testing';

/** Runs `npm run audit` against this database. */
export const audit = (databaseUrl: string): ReturnType<typeof runNode> =>
  runNode(['--import', 'tsx', 'tools/audit/src/main.ts'], { env: { DATABASE_URL: databaseUrl } });
