import pg from 'pg';

/**
 * Runs one step of maintenance in a transaction, unless another process holds the lock.
 * @returns the result of the step, or false if another process holds the lock
 */
export async function inMaintenanceTransaction(
  client: pg.Client,
  lock: string,
  step: (client: pg.Client) => Promise<boolean>,
): Promise<boolean> {
  await client.query('begin');
  try {
    const { rows } = await client.query<{ mine: boolean }>(
      `select pg_try_advisory_xact_lock(${lock}) as mine`,
    );
    const response = rows[0]!.mine && (await step(client));
    await client.query('commit');
    return response;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** The role's own timeout is meant for requests; sorting rewrites a month of events in one statement. */
const STATEMENT_TIMEOUT = '30min';

/** Runs work on its own connection, because maintenance may take longer than the statement timeout of the app. */
export async function withMaintenanceClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'analytics-query-maintenance',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  // The running statement fails with the error; later ones fail because the connection is lost.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(`set statement_timeout = '${STATEMENT_TIMEOUT}'`);
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Returns the months of the attached partitions, such as `2026-01`, in order. */
export async function partitionedMonths(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'tracking_events'::regclass and not inhdetachpending order by relname`,
  );
  return rows.map(({ name }) => name.slice(-7).replace('_', '-'));
}

/**
 * Returns whether the event store is distributed over Citus nodes. There, tables cannot be swapped, and a month cannot
 * be detached concurrently.
 */
export async function isDistributed(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ citus: boolean }>(
    `select to_regclass('pg_catalog.pg_dist_partition') is not null as citus`,
  );
  if (!rows[0]!.citus) return false;
  const { rowCount } = await client.query(
    `select from pg_dist_partition where logicalrelid = 'tracking_events'::regclass`,
  );
  return rowCount === 1;
}
