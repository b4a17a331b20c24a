import { analyticsToken } from './analytics-token.js';
import { OPERATIONS, parseOperation } from './operations.js';
import { paged } from './paged.js';
import { PerkwayError } from './perkway-error.js';
import { sender, type Credentials, type Input } from './send.js';
import type { HostClient, HostName } from './types.js';

/** Where the hosts are, as the stack file has them; those that are not used may be missing. */
export interface PerkwayHosts {
  perks?: string;
  boost?: string;
  gift?: string;
  token?: string;
  query?: string;
}

export interface PerkwayOptions {
  /** Of role USER or ADMIN. It belongs on a server. */
  apiKey: string;
  hosts: PerkwayHosts;
  /** In place of the global one. */
  fetch?: typeof fetch;
  /** Of each try; 30 s, if not given. */
  timeoutMs?: number;
  /** In all, of what may be repeated; 4, if not given. 1, for who repeats by a plan of their own. */
  tries?: number;
}

export interface Perkway {
  perks: HostClient<'perks'>;
  boost: HostClient<'boost'>;
  gift: HostClient<'gift'>;
  token: HostClient<'token'>;
  analytics: HostClient<'analytics'> & {
    /** A token of the query host that lasts for a while yet; may be handed on as it is, to a Cube client. */
    token: () => Promise<string>;
  };
}

/** What is called `query` among the hosts answers analytics. */
const HOST_OF: Record<HostName, keyof PerkwayHosts> = {
  perks: 'perks',
  boost: 'boost',
  gift: 'gift',
  token: 'token',
  analytics: 'query',
};
const LISTS = /^list(?!PerkCollections$|ApiKeys$)/;
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_TRIES = 4;

/** The client of one account. It keeps nothing but its analytics token, and opens nothing that would have to be closed. */
export function createPerkway({
  apiKey,
  hosts,
  fetch: given = fetch,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  tries = DEFAULT_TRIES,
}: PerkwayOptions): Perkway {
  const withKey: Credentials = () => ({ 'X-API-Key': apiKey });
  const client = <Host extends HostName>(name: Host, credentials: Credentials): HostClient<Host> => {
    const baseUrl = hosts[HOST_OF[name]]?.replace(/\/+$/, '');
    const send =
      baseUrl === undefined ? undefined : sender({ baseUrl, credentials, fetch: given, timeoutMs, tries });
    const methods = Object.entries(OPERATIONS[name]).map(([operationId, text]: [string, string]) => {
      const operation = parseOperation(text);
      const call = async (input: Input): Promise<unknown> => {
        if (!send) throw new PerkwayError('CONNECTION_FAILED', `No host was given for ${HOST_OF[name]}`);
        const complete = withIdempotencyKey(operationId, input);
        return send(operation, complete, mayRepeat(operationId, operation.method, complete));
      };
      const method = LISTS.test(operationId)
        ? (input: Input = {}) => paged((cursor) => call(cursor === undefined ? input : { ...input, cursor }))
        : (input: Input = {}) => call(input);
      return [operationId, method];
    });
    return Object.fromEntries(methods) as HostClient<Host>;
  };
  const token = client('token', withKey);
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
  };
}

/** The same for all tries, so that a link whose answer was lost is not made twice. */
const withIdempotencyKey = (operationId: string, input: Input): Input =>
  operationId === 'generateRewardLink'
    ? { ...input, idempotencyKey: input.idempotencyKey ?? crypto.randomUUID() }
    : input;

/** What does no more when it is sent again. */
function mayRepeat(operationId: string, method: string, input: Input): boolean {
  if (method !== 'POST') return true;
  if (operationId === 'trackJourneyEvent') return input.externalId !== undefined;
  return (
    operationId === 'generateRewardLink' ||
    operationId === 'cancelRewardLink' ||
    operationId.endsWith('ByPost')
  );
}
