import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FleetAddresses } from '../fleet/fleet-addresses.js';
import { FleetCalls } from './fleet-calls.js';

it.each([
  ['breaks off', (response: ServerResponse) => response.destroy()],
  ['stalls', () => undefined],
])('a response that %s is reported as an unavailable host', async (_what, afterHead) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': '2' });
    response.write('{', () => afterHead(response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const calls = new FleetCalls({ of: () => url } as unknown as FleetAddresses);
    const call = { host: 'events', method: 'POST', address: '/', headers: {}, timeoutMs: 500 } as const;
    await expect(calls.read(call)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', status: 503 });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
