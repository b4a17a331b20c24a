/** The upper bound: a bare Fastify that sends prebuilt bodies of the same size, or signs a token per request. */
import Fastify from 'fastify';
import jwt from 'jsonwebtoken';
import { generateKeyPairSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';

export interface BareResponse {
  path: string;
  status: number;
  headers: Record<string, string>;
  /** Length of the body. */
  bytes: number;
  /** Signs a token like those of token-issuer for each request and sends it instead. */
  signs?: boolean;
}

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

function signed(): { token: string; expiration: number } {
  const iat = Math.floor(Date.now() / 1000);
  const claims = { sub: 'bench-account', role: 'USER', iss: 'https://token.test', aud: 'https://query.test' };
  const token = jwt.sign({ ...claims, iat, exp: iat + 300 }, privateKey, { algorithm: 'ES256', keyid: 'k1' });
  return { token, expiration: (iat + 300) * 1000 };
}

const responses = JSON.parse(process.argv[2]!) as BareResponse[];
const server = Fastify();
for (const { path, status, headers, bytes, signs } of responses) {
  const body = Buffer.alloc(bytes, 'x');
  server.get(path, (_request, reply) =>
    reply
      .code(status)
      .headers(headers)
      .send(signs ? signed() : bytes > 0 ? body : undefined),
  );
}
await server.listen({ host: '127.0.0.1', port: 0 });
process.send!((server.server.address() as AddressInfo).port);
