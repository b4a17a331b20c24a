/**
 * Receives webhooks in a child process. Replies to each message of the parent with the deliveries since the previous
 * one. The path decides the response: `/hang` gets none, `/fail` a 500, `/slow` a late one; these are not counted.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Received {
  port: number;
  count: number;
  /** Milliseconds from `occurred_at` to the receiver, of each delivery. */
  latencies: number[];
}

const SLOW_MS = 3_000;

let latencies: number[] = [];
const server = createServer(async (request, response) => {
  if (request.url === '/hang') return;
  if (request.url === '/fail') return void response.writeHead(500).end();
  if (request.url === '/slow') return void setTimeout(() => response.writeHead(204).end(), SLOW_MS);
  const { occurred_at: at } = JSON.parse((await buffer(request)).toString()) as { occurred_at: string };
  latencies.push(Date.now() - Date.parse(at));
  response.writeHead(204).end();
});
// The client decides how long connections stay open.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', () => {
  const { port } = server.address() as AddressInfo;
  process.send!({ result: { port, count: latencies.length, latencies } satisfies Received });
  latencies = [];
});
