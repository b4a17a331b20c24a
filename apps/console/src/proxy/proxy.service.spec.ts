import type { FastifyReply, FastifyRequest } from 'fastify';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuditLog } from '../audit-log/audit-log.service.js';
import type { FleetAddresses } from '../fleet/fleet-addresses.js';
import type { FleetClients } from '../fleet/fleet-clients.js';
import type { Session } from '../sessions/session.js';
import { FleetCalls } from './fleet-calls.js';
import { operationOf } from './operations.js';
import { ProxyService } from './proxy.service.js';

it('responds 503 to a change if the host breaks off its response', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': '2' });
    response.write('{', () => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const addresses = { of: () => url } as unknown as FleetAddresses;
    const log = { record: (_session, _change, change) => change() } as Pick<AuditLog, 'record'> as AuditLog;
    const proxy = new ProxyService(new FleetCalls(addresses), {} as FleetClients, log);
    const path = '/webhooks/orders/ping';
    const request = { id: 'r', headers: {} } as FastifyRequest;
    const reply = { raw: new EventEmitter() } as unknown as FastifyReply;
    const passed = proxy.pass(
      { key: 'k' } as Session,
      operationOf('events', 'POST', path)!,
      { path, query: '' },
      request,
      reply,
    );
    await expect(passed).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', status: 503 });
  } finally {
    server.close();
  }
});
