import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findNatsServer, isAlive, startCitus, startPostgres, type LocalServer } from '@perkway/local-servers';

/** Jest's parent process passes the superuser's URL and the temporary folder to its workers in these variables. */
export const POSTGRES_URL_VARIABLE = 'PERKWAY_TEST_POSTGRES_URL';
export const FOLDER_VARIABLE = 'PERKWAY_TEST_FOLDER';
/** Folder with the programs of a Postgres with Citus. If set, event databases are distributed over two workers. */
const CITUS_PROGRAMS_VARIABLE = 'PERKWAY_TEST_CITUS';
const CITUS_WORKERS_VARIABLE = 'PERKWAY_TEST_CITUS_WORKERS';

const FOLDER = /^perkway-test-(\d+)-/;

/** Removes the files of test runs that were killed. Their servers die with them, and may still be writing. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = FOLDER.exec(name)?.[1];
    if (pid && !isAlive(Number(pid)))
      rmSync(join(tmpdir(), name), { recursive: true, force: true, maxRetries: 5 });
  }
}

async function startDatabaseServers(folder: string): Promise<LocalServer[]> {
  const programs = process.env[CITUS_PROGRAMS_VARIABLE];
  if (programs) {
    const { coordinator, workers } = await startCitus({
      programs,
      folder,
      durable: false,
      dieWithParent: true,
    });
    process.env[CITUS_WORKERS_VARIABLE] = workers.map(({ url }) => url).join(' ');
    return [coordinator, ...workers];
  }
  return [
    await startPostgres({
      port: 0,
      dataDir: join(folder, 'postgres'),
      durable: false,
      logFile: join(folder, 'postgres.log'),
      dieWithParent: true,
    }),
  ];
}

/** Starts one Postgres, without durability, for the whole run. Each test file gets its own database on it. */
export async function startTestServers(): Promise<{ stop: () => Promise<void> }> {
  removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), `perkway-test-${process.pid}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const [servers, nats] = await Promise.all([
      startDatabaseServers(folder),
      // Found or downloaded once for all test files. If that fails, only tests that need NATS fail.
      findNatsServer().catch(() => undefined),
    ]);
    if (nats) process.env.NATS_SERVER_BIN = nats;
    process.env[POSTGRES_URL_VARIABLE] = servers[0]!.url;
    process.env[FOLDER_VARIABLE] = folder;
    return {
      stop: async () => {
        await Promise.all(servers.map((server) => server.stop()));
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

const fromRun = (variable: string): string => {
  const value = process.env[variable];
  if (!value)
    throw new Error(`${variable} is not set. Run the tests with a Jest config made by jest.preset.mjs.`);
  return value;
};
export const runPostgresUrl = (): string => fromRun(POSTGRES_URL_VARIABLE);
/** Empty if the run has a plain Postgres. */
export const runCitusWorkers = (): string[] => process.env[CITUS_WORKERS_VARIABLE]?.split(' ') ?? [];
/** Makes a folder that is removed with the test run. */
export const runFolder = (name: string): string => mkdtempSync(join(fromRun(FOLDER_VARIABLE), `${name}-`));
/** Returns a folder that all test files share. The first to finish `fill` provides it. */
export async function sharedRunFolder(
  name: string,
  fill: (folder: string) => Promise<unknown>,
): Promise<string> {
  const folder = join(fromRun(FOLDER_VARIABLE), name);
  if (existsSync(folder)) return folder;
  const draft = runFolder(name);
  await fill(draft);
  await rename(draft, folder).catch((error: unknown) => {
    if (!existsSync(folder)) throw error;
  });
  return folder;
}
