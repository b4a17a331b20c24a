import { FLEET, READER_ROLE } from '@perkway/fleet';
import type pg from 'pg';
import { withAdminClient } from './provision-database.js';

export interface Distribution {
  /** Active nodes that hold rows. */
  nodes: number;
  /** Tables distributed by account. */
  byAccount: string[];
  /** Tables that every node has a copy of. */
  everywhere: string[];
  /** Number of tables that this run distributed. */
  moved: number;
}

/** A problem that the user can fix; its message says how. */
export class DistributionError extends Error {}

const { schema: SCHEMA } = FLEET['analytics-query'].database;
/** Joined to rows of any account. */
const EVERYWHERE = ['perk_names', 'rollup_state'];
/** Moving many months of rows to other nodes takes hours. */
const TIMEOUT_MS = 24 * 3_600_000;

/**
 * Distributes the event store over the nodes of a Citus cluster. Tables with an account are distributed and colocated
 * by account, and `EVERYWHERE` tables are copied to every node. Other tables stay on the coordinator. A run skips
 * tables that are distributed already: repeat it after a migration that adds a table or after an interruption. New
 * monthly partitions are distributed by themselves.
 *
 * While the rows of a table move, writers to it wait.
 *
 * @param adminUrl connects as a superuser to a provisioned and migrated database on the coordinator, which has worker
 * nodes
 * @throws DistributionError if the database is not ready for it
 */
export function distributeEvents(adminUrl: string): Promise<Distribution> {
  return withAdminClient(
    adminUrl,
    async (client) => {
      await refuseOthers(client);
      const { rows: nodes } = await client.query('select from citus_get_active_worker_nodes()');
      if (nodes.length === 0)
        throw new DistributionError('Citus has no worker nodes yet. Add them with citus_add_node.');
      const byAccount = await tablesByAccount(client);
      const done = await distributedTables(client);
      const [first] = byAccount;
      for (const table of byAccount.filter((each) => !done.has(each)))
        await client.query(
          `select create_distributed_table($1::regclass, 'account_id', colocate_with => $2)`,
          [`${SCHEMA}.${table}`, table === first ? 'none' : `${SCHEMA}.${first}`],
        );
      for (const table of EVERYWHERE.filter((each) => !done.has(each)))
        await client.query('select create_reference_table($1::regclass)', [`${SCHEMA}.${table}`]);
      // Propagates the transaction's account setting to the workers. Without it row-level security hides all rows
      // there.
      await client.query(`alter role ${READER_ROLE} set citus.propagate_set_commands = 'local'`);
      const moved = [...byAccount, ...EVERYWHERE].filter((each) => !done.has(each)).length;
      return { nodes: nodes.length, byAccount, everywhere: EVERYWHERE, moved };
    },
    TIMEOUT_MS,
  );
}

async function refuseOthers(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ citus: boolean; events: boolean }>(
    `select exists (select from pg_extension where extname = 'citus') as citus,
       to_regclass('${SCHEMA}.tracking_events') is not null as events`,
  );
  if (!rows[0]!.citus)
    throw new DistributionError(
      'This database does not have the citus extension. A plain Postgres needs no distribution.',
    );
  if (!rows[0]!.events)
    throw new DistributionError(
      'This database has no event tables. Run the migrations of analytics-query first.',
    );
}

/** Lists the tables with an account, the events first, because the others are colocated with them. */
async function tablesByAccount(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
     where c.relnamespace = '${SCHEMA}'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     order by c.relname <> 'tracking_events', c.relname`,
  );
  return rows.map(({ name }) => name);
}

async function distributedTables(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
     where c.relnamespace = '${SCHEMA}'::regnamespace`,
  );
  return new Set(rows.map(({ name }) => name));
}
