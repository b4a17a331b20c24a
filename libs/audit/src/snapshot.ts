import type pg from 'pg';

/**
 * Long enough to count hundreds of millions of rows. Set in the transaction, because a pooler would reject it as a
 * connection parameter and leak it as a session setting.
 */
const STATEMENT_TIMEOUT = '30min';

/** Runs `work` in one read-only snapshot of each database. */
export async function inSnapshots<T>(clients: pg.ClientBase[], work: () => Promise<T>): Promise<T> {
  for (const client of clients) {
    await client.query('begin isolation level repeatable read read only');
    await client.query(`set local statement_timeout = '${STATEMENT_TIMEOUT}'`);
  }
  try {
    return await work();
  } finally {
    for (const client of clients) await client.query('rollback');
  }
}
