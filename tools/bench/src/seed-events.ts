import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from './fleet.js';

/** Runs `npm run seed:events` on a fleet's database. */
export async function seedEvents(databaseUrl: string, events: number): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'tools/seed-events/src/main.ts'), '--events', String(events)],
    {
      cwd: ROOT,
      env: { ...process.env, DATABASE_URL: databaseUrl },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error('could not generate the synthetic events');
}
