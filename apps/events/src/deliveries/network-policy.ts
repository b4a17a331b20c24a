import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Global unicast (RFC 4291). Everything else in IPv6 is local, multicast, reserved or a wrapped IPv4 address. */
const IPV6_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** The metadata service of Azure, which has a public address. */
const AZURE_METADATA = '168.63.129.16';

/** Names of metadata services, rejected even if DNS here does not resolve them. */
const METADATA_NAMES = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.azure.com',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'instance-data',
  'instance-data.ec2.internal',
]);

/** Names that only a private network resolves (RFC 6761, RFC 6762, RFC 8375). */
const PRIVATE_NAME = /^[^.]+$|\.(?:localhost|local|localdomain|internal|intranet|lan|home\.arpa)$/;

/** Decides which addresses webhooks may reach: the public internet and the networks that the operator allows. */
export class NetworkPolicy {
  private readonly allowed: [Address, number][];

  /** @param allowedNetworks addresses and CIDR ranges */
  constructor(allowedNetworks: readonly string[] = []) {
    this.allowed = allowedNetworks.map((network) => {
      if (network.includes('/')) return ipaddr.parseCIDR(network);
      const address = ipaddr.parse(network);
      return [address, address.kind() === 'ipv4' ? 32 : 128];
    });
  }

  /** Returns whether the address is public, or in a network that the operator allows. */
  permits(address: string): boolean {
    return this.opens(address) || isGloballyReachable(address);
  }

  /** Returns whether the address is in a network that the operator allows. */
  opens(address: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    const target = unwrap(ipaddr.parse(address));
    return this.allowed.some(
      ([network, prefix]) => network.kind() === target.kind() && target.match(network, prefix),
    );
  }
}

/** @param name in lower case and without a trailing dot */
export const isMetadataName = (name: string): boolean => METADATA_NAMES.has(name);
export const isPrivateName = (name: string): boolean => PRIVATE_NAME.test(name);

function isGloballyReachable(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const target = unwrap(ipaddr.parse(address));
  if (target.toString() === AZURE_METADATA) return false;
  return (target.kind() === 'ipv4' || target.match(IPV6_UNICAST)) && target.range() === 'unicast';
}

/**
 * Returns the IPv4 address inside a mapped or NAT64 address. Addresses with other wrappings, such as 6to4, stay as they
 * are.
 */
function unwrap(address: Address): Address {
  if (address.kind() === 'ipv4') return address;
  const v6 = address as ipaddr.IPv6;
  if (v6.isIPv4MappedAddress()) return v6.toIPv4Address();
  return v6.match(NAT64) ? new ipaddr.IPv4(v6.toByteArray().slice(12)) : v6;
}
