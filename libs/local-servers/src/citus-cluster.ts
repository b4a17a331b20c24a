import { join } from 'node:path';
import { distributeEvents } from './distribute-events.js';
import type { LocalServer } from './local-server.js';
import { startPostgres } from './postgres-server.js';
import { withAdminClient } from './provision-database.js';

export interface CitusOptions {
  /** The folder with the programs of a Postgres that has Citus. */
  programs: string;
  /** Holds the data and logs of the three servers. */
  folder: string;
  /** False gives up durability after a crash of the machine; for tests only. */
  durable: boolean;
  dieWithParent?: boolean;
}

/** Without TLS between the nodes, and with enough prepared transactions for parallel tests. */
const SETTINGS = {
  shared_preload_libraries: 'citus',
  max_prepared_transactions: '200',
  'citus.node_conninfo': 'sslmode=disable',
  // Few shards, for tests and benchmarks on one machine.
  'citus.shard_count': '8',
};

/** Starts a coordinator and two workers on this machine, for tests and benchmarks. */
export async function startCitus(
  options: CitusOptions,
): Promise<{ coordinator: LocalServer; workers: LocalServer[] }> {
  const { programs, folder, durable, dieWithParent } = options;
  const [coordinator, ...workers] = await Promise.all(
    ['coordinator', 'worker-1', 'worker-2'].map((name) =>
      startPostgres({
        port: 0,
        dataDir: join(folder, name),
        durable,
        logFile: join(folder, `${name}.log`),
        dieWithParent,
        programs,
        settings: SETTINGS,
      }),
    ),
  );
  return { coordinator: coordinator!, workers };
}

const inDatabase = (serverUrl: string, database: string): string => {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
};

/** Adds workers to a provisioned and migrated database of the coordinator, and distributes the events over them. */
export async function distributeOver(databaseUrl: string, workerUrls: string[]): Promise<void> {
  const { hostname, port, pathname } = new URL(databaseUrl);
  const database = pathname.slice(1);
  for (const url of workerUrls) {
    await withAdminClient(url, (client) =>
      client.query(`create database ${client.escapeIdentifier(database)}`),
    );
    await withAdminClient(inDatabase(url, database), (client) => client.query('create extension citus'));
  }
  await withAdminClient(databaseUrl, async (client) => {
    await client.query('create extension if not exists citus');
    await client.query('select citus_set_coordinator_host($1, $2)', [hostname, Number(port)]);
    for (const url of workerUrls.map((each) => new URL(each)))
      await client.query('select citus_add_node($1, $2)', [url.hostname, Number(url.port)]);
  });
  await distributeEvents(databaseUrl);
}
