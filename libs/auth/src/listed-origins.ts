import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuthenticatedRequest } from './decorators.js';

export interface ListedOrigins {
  /**
   * Returns the account whose web sites may call this path; from the path, because a preflight has no key. Undefined if
   * the path names no known resource, null if it is not for web sites.
   */
  accountOf(url: string): Promise<string | undefined> | null;
  /** The web sites that the account lists. */
  originsOf(account: string): Promise<readonly string[]>;
  /** Whether any account lists the web site. */
  isListedByAny(origin: string): Promise<boolean>;
  /** Values of the preflight headers with these names. */
  allowMethods: string;
  allowHeaders: string;
  /** Response headers that pages may read besides `x-request-id`, `retry-after` and the CORS-safelisted ones. */
  exposeHeaders?: string;
  /** Whether pages with a USER or ADMIN key may read the responses. */
  allowsServerKeys: boolean;
}

const NOT_FOR_BROWSERS =
  'A key of role USER or ADMIN does not belong in a browser, where everybody can read it: use one of role JOURNEY.';

/**
 * Implements CORS for listed web sites (docs/adr/0008-outreach.md), including error responses, which their pages can
 * then read. Other sites learn nothing, not even whether the resource exists. The guard still checks keys and limits
 * failed attempts. Requests without `Origin` cost nothing here.
 */
export function allowListedOrigins(fastify: FastifyInstance, options: ListedOrigins): void {
  const { allowMethods, allowHeaders, allowsServerKeys } = options;
  const exposeHeaders = ['x-request-id', 'retry-after', options.exposeHeaders].filter(Boolean).join(', ');
  const allowed = new WeakSet<FastifyRequest>();
  const isListed = async (account: Promise<string | undefined>, origin: string): Promise<boolean> => {
    const id = await account;
    // For an unknown resource, let pages of any listed site read the 404 instead of a CORS failure.
    return id === undefined ? options.isListedByAny(origin) : (await options.originsOf(id)).includes(origin);
  };
  fastify.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    const account = origin === undefined ? null : options.accountOf(request.url);
    if (account === null) return done();
    void reply.header('vary', 'Origin');
    isListed(account, origin!)
      // Deny if the origins cannot be looked up.
      .catch(() => false)
      .then((isAllowed) => {
        if (request.method !== 'OPTIONS') {
          if (isAllowed) allowed.add(request);
          return done();
        }
        if (isAllowed)
          void reply.headers({
            'access-control-allow-origin': origin,
            'access-control-allow-methods': allowMethods,
            'access-control-allow-headers': allowHeaders,
            'access-control-max-age': '600',
          });
        void reply.code(204).send();
      }, done);
  });
  // Runs in onSend, because by then the guard has identified the caller.
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    if (!allowed.has(request)) return done();
    const { caller } = request as AuthenticatedRequest;
    const isOfServer = caller !== undefined && caller.role !== 'JOURNEY';
    if (isOfServer) void reply.header('perkway-detail', NOT_FOR_BROWSERS);
    if (!isOfServer || allowsServerKeys)
      void reply.headers({
        'access-control-allow-origin': request.headers.origin,
        'access-control-expose-headers': exposeHeaders,
      });
    done();
  });
}
