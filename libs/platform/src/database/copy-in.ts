import pg from 'pg';

interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/**
 * A query that sends its rows when the server asks for them. The driver does the rest of the protocol, including errors
 * while rows are sent.
 */
class CopyIn extends pg.Query {
  constructor(
    text: string,
    private readonly content: Buffer,
    done: (error: Error | undefined | null, result: { rowCount: number | null }) => void,
  ) {
    super(text, done);
  }

  /** Called by the driver. */
  protected handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(this.content);
    connection.endCopyFrom();
  }
}

/**
 * Copies rows into a table.
 * @param text `copy ... from stdin`
 * @param rows all rows, in the format that `text` names
 * @returns the number of rows copied
 */
export const copyIn = (client: pg.ClientBase, text: string, rows: string): Promise<number> =>
  new Promise((resolve, reject) => {
    client.query(
      new CopyIn(text, Buffer.from(rows), (error, result) =>
        error ? reject(error) : resolve(result.rowCount ?? 0),
      ),
    );
  });
