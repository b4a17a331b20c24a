import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Received {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
  path: string;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Returns the event ids that one path received, in order and with repetitions. */
  ids(path?: string): string[];
  close(): Promise<void>;
}

/**
 * Starts a receiver of webhooks on a free port.
 *
 * @param reply sends the response, by default status 204, or leaves the request without one
 */
export async function startReceiver(
  reply: (response: ServerResponse, received: Received) => void = (response) =>
    void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString();
    const { headers, url } = request;
    const one = { id: String(headers['webhook-id']), headers, body, path: url! };
    received.push(one);
    reply(response, one);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    ids: (path) => received.filter((each) => path === undefined || each.path === path).map(({ id }) => id),
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
