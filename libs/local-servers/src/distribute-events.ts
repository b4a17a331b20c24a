import { FLEET, READER_ROLE } from '@perkway/fleet';
import type pg from 'pg';
import { withAdminClient } from './provision-database.js';

export interface Distribution {
  /** Active nodes that hold rows. */
  nodes: number;
  /** Tables whose rows lie on the node of their account. */
  byAccount: string[];
  /** Tables that every node has. */
  everywhere: string[];
  /** How many of them this run has distributed. */
  moved: number;
}

/** What a person can mend. */
export class DistributionError extends Error {}

const { schema: SCHEMA } = FLEET['analytics-query'].database;
/** Joined to rows of any account. */
const EVERYWHERE = ['perk_names', 'rollup_state'];
/** Rows of many months move to other nodes. */
const TIMEOUT_MS = 24 * 3_600_000;

/**
 * Distributes the event store over the nodes of a Citus cluster: what has an account by account, so that all of one
 * account lies on one node, under one number of shards. What is distributed already stays as it is, so this can be run
 * again: after a migration that adds a table, or when it was broken off. New months follow by themselves.
 *
 * While rows move, writers of their table wait.
 *
 * @param adminUrl of a superuser, at the coordinator, whose database is provisioned and migrated and has its nodes
 * @throws DistributionError where this is no such database
 */
export function distributeEvents(adminUrl: string): Promise<Distribution> {
  return withAdminClient(
    adminUrl,
    async (client) => {
      await refuseOthers(client);
      const { rows: nodes } = await client.query('select from citus_get_active_worker_nodes()');
      if (nodes.length === 0)
        throw new DistributionError('Citus has no nodes yet: add them with citus_add_node.');
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
      // Without it a query sees no rows: its account would be named on the coordinator only.
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
      'This database has no extension citus: nothing to distribute over. A plain Postgres stays as it is.',
    );
  if (!rows[0]!.events)
    throw new DistributionError('This database has no events: run the migrations of analytics-query first.');
}

/** The events first, because the others go where they are. */
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
