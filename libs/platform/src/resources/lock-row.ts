import type { EntityManager } from 'typeorm';

/** Until the end of the transaction nobody else has this lock: one writer at a time also of what does not exist yet. */
export async function lockRow(manager: EntityManager, table: string, id: string): Promise<void> {
  await manager.query('select pg_advisory_xact_lock(hashtext($1), hashtext($2))', [table, id]);
}
