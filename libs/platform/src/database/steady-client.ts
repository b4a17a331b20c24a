import pg from 'pg';

/**
 * A connection that breaks while it is checked out of its pool and runs no statement (just connected, or between two
 * statements of a transaction) emits an error that nobody hears, and that would end the process. Whoever holds the
 * connection learns of it from the next statement.
 */
export class SteadyClient extends pg.Client {
  constructor(options?: string | pg.ClientConfig) {
    super(options);
    this.on('error', () => undefined);
  }
}
