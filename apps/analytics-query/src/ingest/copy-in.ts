import pg from 'pg';

interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** A query of the driver, which has the rest of the protocol: what fails while the rows are on their way, too. */
class CopyIn extends pg.Query {
  constructor(
    text: string,
    private readonly content: Buffer,
    done: (error: Error | undefined | null, result: { rowCount: number | null }) => void,
  ) {
    super(text, done);
  }

  /** The driver calls it. */
  protected handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(this.content);
    connection.endCopyFrom();
  }
}

/**
 * @param text `copy ... from stdin`
 * @param rows all of them, in its format
 * @returns how many rows they were
 */
export const copyIn = (client: pg.ClientBase, text: string, rows: string): Promise<number> =>
  new Promise((resolve, reject) => {
    client.query(
      new CopyIn(text, Buffer.from(rows), (error, result) =>
        error ? reject(error) : resolve(result.rowCount ?? 0),
      ),
    );
  });
