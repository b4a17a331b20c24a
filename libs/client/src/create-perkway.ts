import { analyticsToken } from './analytics-token.js';
import { call, pagedCall } from './call.js';
import { eventList, type EventList, type EventListInput } from './event-list.js';
import { OPERATIONS, parseOperation } from './operations.js';
import { PerkwayError } from './perkway-error.js';
import { sender, type CallOptions, type Credentials, type Input } from './send.js';
import type { HostClient, HostName } from './types.js';

/** Base URLs of the hosts. Hosts that you do not use may be omitted. */
export interface PerkwayHosts {
  perks?: string;
  boost?: string;
  gift?: string;
  token?: string;
  query?: string;
  events?: string;
}

export interface PerkwayOptions {
  /** A key of role USER or ADMIN. Keep it on a server. */
  apiKey: string;
  hosts: PerkwayHosts;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch;
  /** Timeout of each attempt in milliseconds. Default: 30,000. */
  timeoutMs?: number;
  /** Maximum attempts of a repeatable request, including the first. Default: 4; 1 disables retries. */
  tries?: number;
}

export interface Perkway {
  perks: HostClient<'perks'>;
  boost: HostClient<'boost'>;
  gift: HostClient<'gift'>;
  token: HostClient<'token'>;
  analytics: HostClient<'analytics'> & {
    /** Returns a valid token for the query host. Not bound to `this`, so it can be passed to a Cube client. */
    token: () => Promise<string>;
  };
  events: HostClient<'events'> & {
    /** Iterates over the events of the account, without end. */
    list: (input?: EventListInput, options?: CallOptions) => EventList;
  };
}

/** Host by name in the client; only analytics has a different one. */
const HOST_OF: Record<HostName, keyof PerkwayHosts> = {
  perks: 'perks',
  boost: 'boost',
  gift: 'gift',
  token: 'token',
  analytics: 'query',
  events: 'events',
};
/** Operations that return a paginated list. The feed of events is not one, because it has no last page. */
const LISTS = /^list(?!PerkCollections$|ApiKeys$|Events$)/;
const LIST_EVENTS = parseOperation(OPERATIONS.events.listEvents);
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_TRIES = 4;

/** Creates the client of one account. It caches only its analytics token, and there is nothing to close. */
export function createPerkway({
  apiKey,
  hosts,
  fetch: given = fetch,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  tries = DEFAULT_TRIES,
}: PerkwayOptions): Perkway {
  if (!/^[!-~]+$/.test(apiKey)) throw new TypeError('`apiKey` must consist of visible ASCII characters');
  const withKey: Credentials = () => ({ 'X-API-Key': apiKey });
  const senderOf = (name: HostName, credentials: Credentials) => {
    const baseUrl = hosts[HOST_OF[name]]?.replace(/\/+$/, '');
    if (baseUrl !== undefined) return sender({ baseUrl, credentials, fetch: given, timeoutMs, tries });
    return () =>
      Promise.reject(new PerkwayError('CONNECTION_FAILED', `The option hosts.${HOST_OF[name]} is not set`));
  };
  const client = <Host extends HostName>(name: Host, credentials: Credentials): HostClient<Host> => {
    const send = senderOf(name, credentials);
    const methods = Object.entries(OPERATIONS[name]).map(([operationId, text]: [string, string]) => {
      const operation = parseOperation(text);
      const request = async (input: Input, options?: CallOptions) => {
        const complete = withIdempotencyKey(operationId, input);
        return send(operation, complete, mayRepeat(operationId, operation.method, complete), options);
      };
      const method = LISTS.test(operationId)
        ? (input: Input = {}, options?: CallOptions) =>
            pagedCall((cursor) => request(cursor === undefined ? input : { ...input, cursor }, options))
        : (input: Input = {}, options?: CallOptions) => call(() => request(input, options));
      return [operationId, method];
    });
    return Object.fromEntries(methods) as HostClient<Host>;
  };
  const token = client('token', withKey);
  const listEvents = senderOf('events', withKey);
  const analytics = analyticsToken(() => token.issueCubeToken());
  return {
    perks: client('perks', withKey),
    boost: client('boost', withKey),
    gift: client('gift', withKey),
    token,
    analytics: {
      ...client('analytics', async () => ({ Authorization: await analytics() })),
      token: analytics,
    },
    events: {
      ...client('events', withKey),
      list: (input = {}, options = {}) =>
        eventList((page, each) => listEvents(LIST_EVENTS, page, true, each), input, options, timeoutMs),
    },
  };
}

/** Uses one key for all attempts, so that a retry after a lost response has no second effect. */
const withIdempotencyKey = (operationId: string, input: Input): Input =>
  operationId === 'generateRewardLink' || operationId === 'withdrawCards'
    ? { ...input, idempotencyKey: input.idempotencyKey ?? crypto.randomUUID() }
    : input;

/** Returns whether the client may retry the request: any except a POST that could have a second effect. */
function mayRepeat(operationId: string, method: string, input: Input): boolean {
  if (method !== 'POST') return true;
  if (operationId === 'trackJourneyEvent') return input.externalId !== undefined;
  return (
    operationId === 'retryWebhookDelivery' ||
    operationId === 'generateRewardLink' ||
    operationId === 'cancelRewardLink' ||
    operationId === 'replaceRewardLink' ||
    operationId === 'withdrawCards' ||
    operationId.endsWith('ByPost')
  );
}
