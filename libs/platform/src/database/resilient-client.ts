import type { Socket } from 'node:net';
import pg from 'pg';

/** SQLSTATE of a write on a read-only server. */
const READ_ONLY = '25006';
type Done = (error: Error) => void;

/** The connections to one server that this process is opening. */
interface Gate {
  isOpening: boolean;
  waiting: (() => void)[];
}

/**
 * Opens at most one connection to a server at a time. After a failover all processes reconnect at once, and on a busy
 * machine concurrent attempts would keep exceeding the pool's timeout (docs/adr/0049-reconnecting.md).
 *
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
  /** By host and port, so that one server that does not respond holds up no other. */
  private static readonly gates = new Map<string, Gate>();

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

  override connect(): Promise<pg.Client>;
  override connect(done: Done): void;
  override connect(done?: Done): Promise<pg.Client> | void {
    // Only pools pass a callback, and only they connect again and again.
    if (!done) return super.connect();
    const { gate } = this;
    const begin = () => {
      this.stream.off('close', giveUp);
      gate.isOpening = true;
      super.connect((error: Error) => {
        gate.isOpening = false;
        // The newest, which has the most time left.
        gate.waiting.pop()?.();
        done(error);
      });
    };
    // The pool closes the stream after its timeout.
    const giveUp = () => {
      gate.waiting.splice(gate.waiting.indexOf(begin), 1);
      done(new Error('Connection terminated'));
    };
    if (!gate.isOpening) return begin();
    gate.waiting.push(begin);
    this.stream.once('close', giveUp);
  }

  private get gate(): Gate {
    const server = `${this.host}:${this.port}`;
    const gate = ResilientClient.gates.get(server) ?? { isOpening: false, waiting: [] };
    ResilientClient.gates.set(server, gate);
    return gate;
  }

  private get stream(): Socket {
    return (this as unknown as { connection: { stream: Socket } }).connection.stream;
  }

  private closeIfUseless({ message, code }: pg.DatabaseError) {
    if (message !== 'Query read timeout' && code !== READ_ONLY) return;
    // `end()` would wait for the server.
    this.stream.destroy();
  }
}
