import pg from 'pg';

/**
 * Runs one step of upkeep in a transaction of its own, unless another process is at it.
 * @returns what the step answers, and false where another process does it
 */
export async function inUpkeepTransaction(
  client: pg.Client,
  lock: string,
  step: (client: pg.Client) => Promise<boolean>,
): Promise<boolean> {
  await client.query('begin');
  try {
    const { rows } = await client.query<{ mine: boolean }>(
      `select pg_try_advisory_xact_lock(${lock}) as mine`,
    );
    const answer = rows[0]!.mine && (await step(client));
    await client.query('commit');
    return answer;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** What the role may take is meant for requests; a month of events is rewritten in one statement. */
const STATEMENT_TIMEOUT = '30min';

/** A connection of its own, because upkeep may take longer than any statement of the app may. */
export async function withUpkeepClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'analytics-query-upkeep',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  // The next statement says it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(`set statement_timeout = '${STATEMENT_TIMEOUT}'`);
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** `2026-01` of each attached partition, in order. */
export async function partitionedMonths(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'tracking_events'::regclass and not inhdetachpending order by relname`,
  );
  return rows.map(({ name }) => name.slice(-7).replace('_', '-'));
}

/**
 * Whether the store lies on the nodes of Citus. There a table cannot take the place of a month, nor a month be detached
 * beside running queries.
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
