import { isApiKey, lastOf, type ResolvedKey } from '@perkway/domain';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_KEY_HEADER } from './api-key.strategy.js';
import type { KeyStore } from './key-store.js';

export interface ListedOrigins {
  /**
   * The account whose web sites may call this address, as its path says, since a preflight has no key. Undefined: nobody's,
   * and null: an address that is none of a web site's business.
   */
  accountOf(url: string): Promise<string | undefined> | null;
  /** The web sites that the account lists. */
  originsOf(account: string): Promise<readonly string[]>;
  /** Answers of a preflight, as in the headers of these names. */
  allowMethods: string;
  allowHeaders: string;
  /** Answers that pages may read besides those that they always may. */
  exposeHeaders?: string;
  /** Whether pages with a key of role USER or ADMIN may read the answers. */
  allowsServerKeys: boolean;
}

const NOT_FOR_BROWSERS =
  'A key of role USER or ADMIN does not belong in a browser, where everybody can read it: use one of role JOURNEY.';

/**
 * CORS (docs/adr/0008-outreach.md). Before the handlers, so that a page of a listed site can read refusals too. A site that
 * is not listed learns nothing, not even whether there is something at the address. A request without `Origin` costs
 * nothing here.
 */
export function allowListedOrigins(fastify: FastifyInstance, keys: KeyStore, options: ListedOrigins): void {
  const { allowMethods, allowHeaders, exposeHeaders, allowsServerKeys } = options;
  const isListed = async (account: Promise<string | undefined>, origin: string): Promise<boolean> => {
    const id = await account;
    return id !== undefined && (await options.originsOf(id)).includes(origin);
  };
  const answer = async (
    account: Promise<string | undefined>,
    origin: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => {
    void reply.header('vary', 'Origin');
    const isPreflight = request.method === 'OPTIONS';
    // False also while it cannot be found out.
    let isAllowed = await isListed(account, origin).catch(() => false);
    if (isAllowed && !isPreflight && (await isOfServer(keys, request))) {
      void reply.header('perkway-detail', NOT_FOR_BROWSERS);
      isAllowed = allowsServerKeys;
    }
    if (isAllowed) void reply.header('access-control-allow-origin', origin);
    if (isAllowed && exposeHeaders && !isPreflight)
      void reply.header('access-control-expose-headers', exposeHeaders);
    if (!isPreflight) return false;
    if (isAllowed)
      void reply.headers({
        'access-control-allow-methods': allowMethods,
        'access-control-allow-headers': allowHeaders,
        'access-control-max-age': '600',
      });
    void reply.code(204).send();
    return true;
  };
  fastify.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    const account = origin === undefined ? null : options.accountOf(request.url);
    if (account === null) return done();
    answer(account, origin!, request, reply).then((isAnswered) => {
      if (!isAnswered) done();
    }, done);
  });
}

/** A key that cannot be looked up now is not shown to a browser either; one that there is not is refused anyway. */
async function isOfServer(keys: KeyStore, { headers, query }: FastifyRequest): Promise<boolean> {
  const given: unknown = headers[API_KEY_HEADER] ?? lastOf((query as { api_key?: unknown }).api_key);
  if (typeof given !== 'string' || !isApiKey(given)) return false;
  let key: ResolvedKey | undefined;
  try {
    key = keys.peek(given) ?? (await keys.find(given));
  } catch {
    return true;
  }
  return key !== undefined && key.role !== 'JOURNEY';
}
