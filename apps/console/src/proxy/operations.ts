import { OPERATIONS as CLIENT_OPERATIONS, type HostName } from '@perkway/client';
import type { Role } from '@perkway/domain';
import type { Host } from '../fleet/fleet-addresses.js';

/** A call to the fleet that the console's pages may make. */
export interface Operation {
  host: Host;
  method: string;
  path: RegExp;
  roles: readonly Role[];
  /** Whether it changes something and belongs in the audit log. */
  isChange: boolean;
  /** Whether a GET of the same path exists, from which the log reads the previous state. */
  isReadable: boolean;
}

const EVERYBODY: readonly Role[] = ['USER', 'ADMIN'];
const OPERATORS: readonly Role[] = ['ADMIN'];

/** The name that `@perkway/client` gives to each host. */
const CLIENT_HOSTS = {
  perks: 'perks',
  boost: 'boost',
  gift: 'gift',
  token: 'token',
  query: 'analytics',
  events: 'events',
} as const satisfies Record<Host, HostName>;

/**
 * The operations that the pages may call, by host and name. Everything else is 404: the analytics token does not belong
 * in the browser, and only customers may cause views and clicks or take coupon codes. Operations under `/admin` are for
 * operators.
 */
const ALLOWED: { [Name in Host]: (keyof (typeof CLIENT_OPERATIONS)[(typeof CLIENT_HOSTS)[Name]])[] } = {
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
    'replaceRewardLink',
    'getStatement',
    'getSignedStatement',
    'findRewardLinks',
    'listStoredGiftCardPools',
    'getStoredGiftCardPool',
    'putGiftCardPool',
    'deleteGiftCardPool',
    'loadGiftCards',
    'checkGiftCards',
    'getGiftCardLoads',
    'getGiftCardLoad',
    'withdrawCards',
    'checkWithdrawal',
    'listWithdrawals',
    'getWithdrawal',
    'listLimits',
    'getLimit',
    'getLimitUsage',
    'listStoredLimits',
    'getStoredLimit',
    'getStoredLimitUsage',
    'putLimit',
    'deleteLimit',
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
    'rotateApiKey',
    'listAllApiKeys',
    'requestErasure',
    'listErasures',
    'getErasure',
  ],
  query: ['getMeta', 'load', 'loadByPost', 'sql', 'sqlByPost', 'dryRun', 'dryRunByPost'],
  events: [
    'listEvents',
    'getEvent',
    'listWebhooks',
    'getWebhook',
    'putWebhook',
    'deleteWebhook',
    'rotateWebhookSecret',
    'pingWebhook',
    'listWebhookDeliveries',
    'retryWebhookDelivery',
    'replayWebhook',
  ],
};

/** Requests other than GET that change nothing. */
const CHECKS: ReadonlySet<string> = new Set(['checkGiftCards', 'checkWithdrawal']);

export const OPERATIONS: readonly Operation[] = (Object.keys(ALLOWED) as Host[]).flatMap((host) => {
  const addresses: Record<string, string> = CLIENT_OPERATIONS[CLIENT_HOSTS[host]];
  const targets = ALLOWED[host].map((name) => {
    const [, method, path] = /^(\w+) ([^?*]+)/.exec(addresses[name]!) as unknown as [string, string, string];
    return { name, method, path };
  });
  return targets.map(({ name, method, path }): Operation => ({
    host,
    method,
    path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    roles: path.startsWith('/admin') ? OPERATORS : EVERYBODY,
    isChange: method !== 'GET' && host !== 'query' && !CHECKS.has(name),
    isReadable: targets.some((other) => other.method === 'GET' && other.path === path),
  }));
});

/**
 * Returns whether `fetch` sends the path unchanged. With dot segments, backslashes or a fragment it would send another
 * path, which was not checked against the table.
 */
const isSentUnchanged = (path: string): boolean => new URL(`http://host${path}`).pathname === path;

/** @param path as received, without its query */
export const operationOf = (host: Host, method: string, path: string): Operation | undefined =>
  isSentUnchanged(path)
    ? OPERATIONS.find(
        (operation) => operation.host === host && operation.method === method && operation.path.test(path),
      )
    : undefined;
