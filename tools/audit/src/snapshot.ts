import type pg from 'pg';

/**
 * Counting hundreds of millions of rows takes its time. A setting of the transaction, because a pooler would refuse a
 * parameter of the connection, and hand a setting of the session on to others.
 */
const STATEMENT_TIMEOUT = '30min';

/** Reads in one snapshot of each database, and changes nothing. */
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
