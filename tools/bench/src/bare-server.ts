/** The upper bound: a bare Fastify that responds with the same prebuilt bytes. */
import Fastify from 'fastify';
import type { AddressInfo } from 'node:net';

export interface BareResponse {
  path: string;
  status: number;
  headers: Record<string, string>;
  /** Length of the body. */
  bytes: number;
}

const responses = JSON.parse(process.argv[2]!) as BareResponse[];
const server = Fastify();
for (const { path, status, headers, bytes } of responses) {
  const body = Buffer.alloc(bytes, 'x');
  server.get(path, (_request, reply) =>
    reply
      .code(status)
      .headers(headers)
      .send(bytes > 0 ? body : undefined),
  );
}
await server.listen({ host: '127.0.0.1', port: 0 });
process.send!((server.server.address() as AddressInfo).port);
