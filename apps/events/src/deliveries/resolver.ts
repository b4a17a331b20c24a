import { Resolver } from 'node:dns/promises';

/** Resolves a name to all its addresses. Throws when there are none. */
export type Resolve = (name: string) => Promise<string[]>;
/** Injection token of the app's `Resolve`. */
export const RESOLVE = Symbol('RESOLVE');

const TRY_TIMEOUT_MS = 1_500;
const TRIES = 2;

const LOOPBACK = ['127.0.0.1', '::1'];

/**
 * Asks DNS directly. `dns.lookup` would run in Node's four threads, where a few names whose servers do not respond hold
 * up every other name. Search domains and the hosts file are not used.
 *
 * @param servers as `Resolver.setServers` takes them. Default: those of the system
 */
export function dnsResolver(servers?: readonly string[]): Resolve {
  return async (name) => {
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    const resolver = new Resolver({ timeout: TRY_TIMEOUT_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const responses = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = responses.flatMap((response) =>
      response.status === 'fulfilled' ? response.value : [],
    );
    if (addresses.length > 0) return addresses;
    throw (responses[0] as PromiseRejectedResult).reason;
  };
}
