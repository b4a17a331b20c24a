import { OPERATIONS as OF_CLIENT, type HostName } from '@perkway/client';
import type { Role } from '@perkway/domain';
import type { Host } from '../fleet/fleet-addresses.js';

/** A call of the fleet that the pages of the console may make. */
export interface Operation {
  host: Host;
  method: string;
  path: RegExp;
  roles: readonly Role[];
  /** Whether it changes something, so that the audit log has it. */
  isChange: boolean;
  /** Whether the address can be read as well, so that the log knows what was there before. */
  isReadable: boolean;
}

const EVERYBODY: readonly Role[] = ['USER', 'ADMIN'];
const OPERATORS: readonly Role[] = ['ADMIN'];

/** As the client calls the hosts. */
const CLIENT = {
  perks: 'perks',
  boost: 'boost',
  gift: 'gift',
  token: 'token',
  query: 'analytics',
} as const satisfies Record<Host, HostName>;

/**
 * What there is on each host, by the name of the operation. All else is 404: tokens and links of recipients are none of a
 * browser's business, and what counts a view or a click is left to customers. An operation under `/admin` is for operators.
 */
const ALLOWED: { [Name in Host]: (keyof (typeof OF_CLIENT)[(typeof CLIENT)[Name]])[] } = {
  perks: [
    'listPerkCollections',
    'getPerkCollection',
    'getPerkOfCollection',
    'getPerkCollectionCategories',
    'listStoredCategories',
    'getStoredCategory',
    'putCategory',
    'deleteCategory',
    'listStoredPerks',
    'getStoredPerk',
    'putPerk',
    'deletePerk',
    'loadCouponCodes',
    'getCouponCodeStock',
    'listStoredPerkCollections',
    'getStoredPerkCollection',
    'putPerkCollection',
    'deletePerkCollection',
  ],
  boost: [
    'listCampaigns',
    'getCampaign',
    'getPixelUrls',
    'generateRewardUrl',
    'getTeasers',
    'listStoredCampaigns',
    'getStoredCampaign',
    'putCampaign',
    'deleteCampaign',
  ],
  gift: [
    'getGiftCardPools',
    'getGiftCardPool',
    'generateRewardLink',
    'listRewardLinks',
    'getIssuedRewardLink',
    'cancelRewardLink',
    'listStoredGiftCardPools',
    'getStoredGiftCardPool',
    'putGiftCardPool',
    'deleteGiftCardPool',
    'loadGiftCards',
    'getGiftCardLoads',
    'getGiftCardLoad',
  ],
  token: [
    'listAccounts',
    'getAccount',
    'putAccount',
    'listPeople',
    'getPerson',
    'putPerson',
    'deletePerson',
    'createApiKey',
    'listApiKeys',
    'revokeApiKey',
  ],
  query: ['getMeta', 'load', 'loadByPost', 'sql', 'sqlByPost', 'dryRun', 'dryRunByPost'],
};

export const OPERATIONS: readonly Operation[] = (Object.keys(ALLOWED) as Host[]).flatMap((host) => {
  const addresses: Record<string, string> = OF_CLIENT[CLIENT[host]];
  const targets = ALLOWED[host].map((name) => {
    const [, method, path] = /^(\w+) ([^?*]+)/.exec(addresses[name]!) as unknown as [string, string, string];
    return { method, path };
  });
  return targets.map(({ method, path }): Operation => ({
    host,
    method,
    path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    roles: path.startsWith('/admin') ? OPERATORS : EVERYBODY,
    isChange: method !== 'GET' && host !== 'query',
    isReadable: targets.some((other) => other.method === 'GET' && other.path === path),
  }));
});

/**
 * Whether the path is asked for as it is written. One with dots, backslashes or a fragment is sent on as another, which
 * nobody has looked for in the table.
 */
const isFinal = (path: string): boolean => new URL(`http://host${path}`).pathname === path;

/** @param path without its query, as it came */
export const operationOf = (host: Host, method: string, path: string): Operation | undefined =>
  isFinal(path)
    ? OPERATIONS.find(
        (operation) => operation.host === host && operation.method === method && operation.path.test(path),
      )
    : undefined;
