import { compile } from '@fastify/proxy-addr';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

const IPV4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/;
/** Some load balancers write hops as `203.0.113.5:1111`, `[2001:db8::1]:1111` or `[2001:db8::1]`. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]*)\](?::\d+)?)$/;

const withoutPort = (hop: string): string => {
  const [, ipv4, ipv6] = WITH_PORT.exec(hop) ?? [];
  return ipv4 ?? ipv6 ?? hop;
};

/** Fastify's `trustProxy`: returns whether a hop, with or without a port, is in one of these addresses or ranges. */
export function trustedHops(ranges: string[]): false | ((hop: string | undefined) => boolean) {
  if (ranges.length === 0) return false;
  const isTrusted = compile(ranges);
  // A closed connection no longer has an address.
  return (hop) => hop !== undefined && isTrusted(IPV4.test(hop) ? hop : withoutPort(hop), 0);
}

/**
 * Returns the sender's address: that of the connection or, if a trusted proxy made it, the rightmost untrusted hop of
 * `X-Forwarded-For`. It has no port and one canonical form (`::ffff:192.0.2.1` equals `192.0.2.1`). Read it before the
 * first await: it is gone once the sender has disconnected.
 */
export function clientIp(request: FastifyRequest): string {
  return normalizeIp(request.ip);
}

/** The holder of one IPv6 address usually has its whole /64, so the network counts as one. */
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
