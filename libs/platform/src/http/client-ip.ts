import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

/**
 * The address of the customer: the rightmost hop of `X-Forwarded-For` that is no trusted proxy (Fastify's
 * `trustProxy` with TRUSTED_PROXIES), in one canonical form; `::ffff:192.0.2.1` and `192.0.2.1` are one address.
 */
export function clientIp(request: FastifyRequest): string {
  return normalizeIp(request.ip);
}

export function normalizeIp(address: string): string {
  if (/^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address)) return address;
  try {
    return ipaddr.process(address).toString();
  } catch {
    return address.slice(0, 64);
  }
}
