import type { Socket } from 'node:net';
import pg from 'pg';

/** A statement that writes on a standby. */
const READ_ONLY = '25006';

/**
 * A connection whose failures stay its own:
 *
 * - One that breaks while it is checked out of its pool and runs no statement (just connected, or between two
 *   statements of a transaction) emits an error that nobody hears, and that would end the process. Whoever holds the
 *   connection learns of it from the next statement.
 * - One whose statement was given up on (`query_timeout`) is closed. The server may still run what it was sent: were
 *   that a `begin`, then all that others do on this connection later would be inside a transaction that nobody ends.
 * - One to a server that takes no writes is closed: it was the primary, or was asked by a name that meant another one then,
 *   and would refuse for as long as it lives. The next connection asks for the name anew.
 */
export class SteadyClient extends pg.Client {
  constructor(options?: string | pg.ClientConfig) {
    super(options);
    this.on('error', () => undefined);
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    this.query = ((...given: unknown[]) => {
      const answer = query(...given);
      // Where there is a callback instead, it is the pool's, which closes the connection after any error.
      if (answer instanceof Promise) answer.catch((error: pg.DatabaseError) => this.closeIfUseless(error));
      return answer;
    }) as typeof this.query;
  }

  private closeIfUseless({ message, code }: pg.DatabaseError) {
    if (message !== 'Query read timeout' && code !== READ_ONLY) return;
    // `end()` would wait for the server.
    (this as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
  }
}
