import type { EntityManager } from 'typeorm';

/** Locks the id until the end of the transaction. Allows one writer at a time, even for rows that do not exist yet. */
export async function lockRow(manager: EntityManager, table: string, id: string): Promise<void> {
  await manager.query('select pg_advisory_xact_lock(hashtext($1), hashtext($2))', [table, id]);
}
