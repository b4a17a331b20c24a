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

/**
 * What there is on each host, as `METHOD path`. All else is 404: tokens and links of recipients are none of a browser's
 * business, and what counts a view or a click is left to customers. An operation under `/admin` is for operators.
 */
const TABLE: Record<Host, string[]> = {
  perks: [
    'GET /perk-collections',
    'GET /perk-collections/{}',
    'GET /perk-collections/{}/perk/{}',
    'GET /perk-collections/{}/categories',
    ...resource('/admin/categories'),
    ...resource('/admin/perks'),
    ...resource('/admin/perk-collections'),
    'GET /admin/perks/{}/coupon-codes',
    'POST /admin/perks/{}/coupon-codes',
  ],
  boost: [
    'GET /campaigns',
    'GET /campaigns/{}',
    'GET /outreach/campaign/{}/pixel-urls',
    'GET /outreach/campaign/{}/reward-url',
    'GET /teasers/{}',
    ...resource('/admin/campaigns'),
  ],
  gift: [
    'GET /pools',
    'GET /pool/{}',
    'POST /pool/{}/reward-links',
    'GET /reward-links',
    'GET /reward-links/{}',
    'POST /reward-links/{}/cancel',
    ...resource('/admin/pools'),
    'POST /admin/pools/{}/cards',
    'GET /admin/pools/{}/loads',
    'GET /admin/pools/{}/loads/{}',
  ],
  token: [
    'GET /admin/accounts',
    'GET /admin/accounts/{}',
    'PUT /admin/accounts/{}',
    ...resource('/admin/accounts/{}/people'),
    'GET /admin/accounts/{}/keys',
    'POST /admin/accounts/{}/keys',
    'DELETE /admin/accounts/{}/keys/{}',
  ],
  query: ['meta', 'load', 'sql', 'dry-run'].flatMap((name) => [
    `GET /cubejs-api/v1/${name}`,
    ...(name === 'meta' ? [] : [`POST /cubejs-api/v1/${name}`]),
  ]),
};

function resource(path: string): string[] {
  return [`GET ${path}`, ...['GET', 'PUT', 'DELETE'].map((method) => `${method} ${path}/{}`)];
}

const toRegExp = (path: string): RegExp => new RegExp(`^${path.replaceAll('{}', '[^/]+')}$`);

export const OPERATIONS: readonly Operation[] = Object.entries(TABLE).flatMap(([host, names]) =>
  names.map((name): Operation => {
    const [method, path] = name.split(' ') as [string, string];
    return {
      host: host as Host,
      method,
      path: toRegExp(path),
      roles: path.startsWith('/admin') ? OPERATORS : EVERYBODY,
      isChange: method !== 'GET' && host !== 'query',
      isReadable: names.includes(`GET ${path}`),
    };
  }),
);

/** A path that means another one is none. */
const DOTS = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

/** @param path without its query, as it came */
export const operationOf = (host: Host, method: string, path: string): Operation | undefined =>
  DOTS.test(path)
    ? undefined
    : OPERATIONS.find(
        (operation) => operation.host === host && operation.method === method && operation.path.test(path),
      );
