import { compile } from '@fastify/proxy-addr';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

const IPV4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/;
/** `203.0.113.5:1111`, `[2001:db8::1]:1111`, `[2001:db8::1]`: some load balancers write hops so. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]*)\](?::\d+)?)$/;

const withoutPort = (hop: string): string => {
  const [, ipv4, ipv6] = WITH_PORT.exec(hop) ?? [];
  return ipv4 ?? ipv6 ?? hop;
};

/** Fastify's `trustProxy`: whether a hop, with or without its port, is one of these addresses or in one of these ranges. */
export function trustedHops(ranges: string[]): false | ((hop: string | undefined) => boolean) {
  if (ranges.length === 0) return false;
  const isTrusted = compile(ranges);
  // Nobody knows any more where a connection that has ended came from.
  return (hop) => hop !== undefined && isTrusted(IPV4.test(hop) ? hop : withoutPort(hop), 0);
}

/**
 * The address of the customer: the rightmost hop of `X-Forwarded-For` that is no trusted proxy (Fastify's
 * `trustProxy` with TRUSTED_PROXIES), in one canonical form; `::ffff:192.0.2.1` and `192.0.2.1` are one address, a port is
 * no part of it. To be read before the first await: of a customer who has hung up the address is gone.
 */
export function clientIp(request: FastifyRequest): string {
  return normalizeIp(request.ip);
}

/** Whoever has one IPv6 address has the 2^64 beside it, so they count as one. */
export const networkOf = (address: string): string =>
  ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.parse(address).toByteArray().slice(0, 8).join('.') : address;

export function normalizeIp(address: string): string {
  if (IPV4.test(address)) return address;
  const bare = withoutPort(address);
  try {
    return ipaddr.process(bare).toString();
  } catch {
    return bare.slice(0, 64);
  }
}
