import { parseUrl } from '@perkway/domain';
import ipaddr from 'ipaddr.js';
import { isMetadataName, isPrivateName, type NetworkPolicy } from './network-policy.js';
import type { Resolve } from './resolver.js';

const MAX_URL_LENGTH = 2_048;

/** Webhooks are not delivered to this URL. The message tells the caller why. */
export class ForbiddenUrlError extends Error {}

/** Returns the host of a parsed URL without brackets and trailing dots: an address in canonical form, or a name. */
export const hostOf = ({ hostname }: Pick<URL, 'hostname'>): string =>
  hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');

/**
 * Parses a URL and checks everything that can be checked without DNS. The checks see canonical hosts, because `URL`
 * turns decimal, octal and hexadecimal addresses into dotted ones, and full-width letters into ASCII.
 *
 * @throws ForbiddenUrlError
 */
export function parseWebhookUrl(text: string, policy: NetworkPolicy): URL {
  if (text.length > MAX_URL_LENGTH) throw new ForbiddenUrlError(`has more than ${MAX_URL_LENGTH} characters`);
  // Parsers drop white space and control characters, and read backslashes as slashes.
  const url = /[\s\p{Cc}\\]/u.test(text) || !/^https?:\/\//i.test(text) ? undefined : parseUrl(text);
  if (!url) throw new ForbiddenUrlError('must be an absolute https URL');
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    throw new ForbiddenUrlError('must not contain a user name or a password');
  const host = hostOf(url);
  if (isMetadataName(host)) throw new ForbiddenUrlError('must not lead to a metadata service');
  if (ipaddr.isValid(host)) requirePermitted(url.protocol, [host], policy);
  return url;
}

/**
 * Checks a URL when it is stored. An https URL whose name does not resolve yet is accepted, unless only a private
 * network resolves such names: every connection checks the addresses again.
 *
 * @throws ForbiddenUrlError
 */
export async function checkWebhookUrl(text: string, policy: NetworkPolicy, resolve: Resolve): Promise<void> {
  const url = parseWebhookUrl(text, policy);
  const host = hostOf(url);
  if (ipaddr.isValid(host)) return;
  const addresses = await resolve(host).catch(() => []);
  requirePermitted(url.protocol, addresses, policy);
  if (addresses.length === 0 && isPrivateName(host))
    throw new ForbiddenUrlError('must have a public host name');
}

/**
 * Checks the addresses of a webhook's host. Each must be permitted. For http, there must be at least one, and the
 * operator must allow the network of each.
 *
 * @throws ForbiddenUrlError
 */
export function requirePermitted(
  protocol: string,
  addresses: readonly string[],
  policy: NetworkPolicy,
): void {
  if (!addresses.every((address) => policy.permits(address)))
    throw new ForbiddenUrlError('must not lead to a private, loopback, link-local or reserved address');
  if (protocol !== 'https:' && !(addresses.length > 0 && addresses.every((each) => policy.opens(each))))
    throw new ForbiddenUrlError('must be an absolute https URL');
}
