import { connect } from 'node:net';
import type pg from 'pg';

const CANCEL_REQUEST = 80_877_102;
const TIMEOUT_MS = 2_000;

/**
 * Cancels the running query of a connection, with the cancel request that Postgres (and a pooler) takes on a connection
 * of its own. Resolves when the server has processed it, so that it cannot hit a later query. Also resolves if the
 * server cannot be reached or is silent for `TIMEOUT_MS`.
 */
export function cancelQuery(client: pg.Client): Promise<void> {
  const { processID, secretKey, host, port } = client as pg.Client & { processID: number; secretKey: number };
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(CANCEL_REQUEST, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
    socket.once('error', () => socket.destroy());
    socket.once('close', () => resolve());
    socket.end(request);
    socket.resume();
  });
}
