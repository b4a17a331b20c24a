import type { Socket } from 'node:net';
import pg from 'pg';

/** SQLSTATE of a write on a read-only server. */
const READ_ONLY = '25006';

/**
 * Keeps the failures of a connection local to it:
 *
 * - A connection that breaks while it is checked out and idle emits an error without a listener, which would end the
 * process. Its holder gets the error from the next statement instead.
 * - A connection whose statement timed out on the client (`query_timeout`) is closed. The server may still run that
 * statement; after a late `begin`, later users would work in a transaction that nobody commits.
 * - A connection to a read-only server is closed: it is a former primary and would reject every write. The next
 * connection resolves the host name again.
 */
export class ResilientClient extends pg.Client {
  constructor(options?: string | pg.ClientConfig) {
    super(options);
    this.on('error', () => undefined);
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    this.query = ((...given: unknown[]) => {
      const response = query(...given);
      // For a query with a callback, the pool closes the connection after any error.
      if (response instanceof Promise)
        response.catch((error: pg.DatabaseError) => this.closeIfUseless(error));
      return response;
    }) as typeof this.query;
  }

  private closeIfUseless({ message, code }: pg.DatabaseError) {
    if (message !== 'Query read timeout' && code !== READ_ONLY) return;
    // `end()` would wait for the server.
    (this as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
  }
}
