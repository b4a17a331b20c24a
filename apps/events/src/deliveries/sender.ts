import { CLOSED_CONNECTION_CODES } from '@perkway/domain/closed-connection';
import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import type { NetworkPolicy } from './network-policy.js';
import { dnsResolver, type Resolve } from './resolver.js';
import { ForbiddenUrlError, hostOf, parseWebhookUrl, requirePermitted } from './webhook-url.js';

const ATTEMPT_TIMEOUT_MS = 15_000;
/** Timeout for the response body after the headers. A connection is reused if the body ends in time. */
const DRAIN_TIMEOUT_MS = 1_000;
const MAX_RESPONSE_BYTES = 1_024;
const MAX_ERROR_CHARACTERS = 200;
/** Below the 5 s after which many servers close idle connections. */
const IDLE_CONNECTION_MS = 4_000;
const MAX_TARGETS = 2_000;
const HEADERS = { 'content-type': 'application/json', 'user-agent': 'Perkway-Webhooks' };
const ABORTED = new Error('The attempt has ended');
const CLOSED = 'The connection was closed without a response';
const NOT_HTTP = 'The response is not valid HTTP, or has an unrequested status 100 or 101';

/** The result of one attempt. */
export interface AttemptResult {
  isSuccess: boolean;
  /** HTTP status of the response; null if there was none. */
  status: number | null;
  /** Null after a success; at most 200 characters. */
  error: string | null;
  retryAfter?: string;
}

export interface SenderOptions {
  policy: NetworkPolicy;
  resolve?: Resolve;
  timeoutMs?: number;
  /** Certificates to trust besides those of the system. */
  ca?: string;
}

type Target = Pick<Dispatcher.DispatchOptions, 'origin' | 'path'>;

/** The result of an attempt on an idle connection that the receiver had closed. */
const STALE = 'stale connection';
const INVALID_RESPONSE_CODES = [
  'ERR_ASSERTION',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_HEADERS_OVERFLOW',
];

/**
 * Posts signed bodies to the URLs of webhooks. Addresses are checked in the lookup of each new connection, so DNS
 * cannot return one address for the check and another for the connection.
 */
export class Sender {
  private readonly policy: NetworkPolicy;
  private readonly resolve: Resolve;
  private readonly timeoutMs: number;
  private readonly targets = new LRUCache<string, Target>({ max: MAX_TARGETS });
  /** Errors of reused connections: the receiver had responded on them, then closed them. */
  private readonly staleErrors = new WeakSet<Error>();
  private agent?: Promise<Agent>;

  constructor(private readonly options: SenderOptions) {
    this.policy = options.policy;
    this.resolve = options.resolve ?? dnsResolver();
    this.timeoutMs = options.timeoutMs ?? ATTEMPT_TIMEOUT_MS;
  }

  /** Makes one attempt. Never throws: an error is in the result. */
  async post(url: string, headers: Record<string, string>, body: string): Promise<AttemptResult> {
    let target = this.targets.get(url);
    const agent = await (this.agent ??= this.newAgent());
    try {
      target ??= targetOf(parseWebhookUrl(url, this.policy));
    } catch (error) {
      return failure(null, `The URL ${(error as Error).message}`);
    }
    this.targets.set(url, target);
    const request = { ...target, method: 'POST' as const, headers: { ...headers, ...HEADERS }, body };
    const deadline = performance.now() + this.timeoutMs;
    let result = await this.attempt(agent, request, this.timeoutMs);
    if (result === STALE) result = await this.attempt(agent, request, deadline - performance.now());
    return result === STALE ? failure(null, CLOSED) : result;
  }

  /** Closes all connections and ends their attempts. Attempts that are still connecting end by their deadline. */
  async close(): Promise<void> {
    await (await this.agent)?.destroy();
  }

  /** Loads undici only when there is something to post: it takes 20 MB of memory. */
  private async newAgent(): Promise<Agent> {
    const { Agent, buildConnector } = await import('undici');
    const { ca } = this.options;
    const connectorOf = (protocol: string) =>
      buildConnector({
        ca,
        timeout: this.timeoutMs,
        lookup: this.lookup(protocol),
      } as buildConnector.BuildOptions);
    const connectors = { 'http:': connectorOf('http:'), 'https:': connectorOf('https:') };
    return new Agent({
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
      // The timers of `attempt` limit connecting, the headers and the body.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) =>
        connectors[options.protocol as keyof typeof connectors](options, (...result) => {
          const [, socket] = result;
          socket?.on('error', (error: NodeJS.ErrnoException) => {
            if (socket.bytesRead > 0 && CLOSED_CONNECTION_CODES.includes(error.code!))
              this.staleErrors.add(error);
          });
          callback(...result);
        }),
    });
  }

  private attempt(
    agent: Agent,
    request: Dispatcher.DispatchOptions,
    timeoutMs: number,
  ): Promise<AttemptResult | typeof STALE> {
    return new Promise((settle) => {
      let controller: Dispatcher.DispatchController | undefined;
      let response: { status: number; headers: IncomingHttpHeaders } | undefined;
      const chunks: Buffer[] = [];
      let size = 0;
      let hasEnded = false;
      /** True once bytes of a response have arrived: the connection was not stale. */
      let hasResponseBytes = false;
      const end = (result: AttemptResult | typeof STALE) => {
        hasEnded = true;
        clearTimeout(timer);
        settle(result);
      };
      const abort = () => controller?.abort(ABORTED);
      const endWithResponse = () => end(resultOf(response!.status, response!.headers, Buffer.concat(chunks)));
      const timeOut = () => end(failure(null, `No response within ${this.timeoutMs / 1_000} s`));
      let timer = setTimeout(() => {
        timeOut();
        abort();
      }, timeoutMs);
      agent.dispatch(request, {
        onRequestStart: (started) => {
          controller = started;
          // Posts nothing if the deadline passed while the connection was being made.
          if (hasEnded) abort();
        },
        onResponseStarted: () => void (hasResponseBytes = true),
        onResponseStart: (_, status, responseHeaders) => {
          if (status < 200) return;
          response = { status, headers: responseHeaders };
          clearTimeout(timer);
          timer = setTimeout(abort, DRAIN_TIMEOUT_MS);
        },
        onResponseData: (_, chunk) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > MAX_RESPONSE_BYTES) abort();
        },
        onResponseEnd: endWithResponse,
        onResponseError: (_, error: NodeJS.ErrnoException) => {
          if (response) endWithResponse();
          else if (error.code === 'UND_ERR_CONNECT_TIMEOUT') timeOut();
          else if (this.staleErrors.has(error) && !hasResponseBytes) end(STALE);
          else end(failure(null, messageOf(error)));
        },
      });
    });
  }

  private lookup(protocol: string): LookupFunction {
    return (hostname, options, callback) => {
      this.resolve(hostOf({ hostname }))
        .then((addresses) => {
          requirePermitted(protocol, addresses, this.policy);
          return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        })
        .then(
          (found) =>
            options.all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family),
          (error: NodeJS.ErrnoException) => callback(error, []),
        );
    };
  }
}

const targetOf = ({ origin, pathname, search }: URL): Target => ({ origin, path: pathname + search });

const failure = (status: number | null, error: string): AttemptResult => ({
  isSuccess: false,
  status,
  error,
});

function resultOf(status: number, headers: IncomingHttpHeaders, body: Buffer): AttemptResult {
  if (status < 300) return { isSuccess: true, status, error: null };
  const isRedirect = status < 400;
  const text = isRedirect ? 'Redirects are not followed' : firstCharacters(body) || `Status ${status}`;
  // An array if the receiver sent it more than once.
  const [retryAfter] = [headers['retry-after']].flat();
  return { ...failure(status, text), retryAfter };
}

const firstCharacters = (body: Buffer): string =>
  [...body.toString('utf8', 0, MAX_RESPONSE_BYTES).replaceAll(/[\p{C}\s]+/gu, ' ')]
    .slice(0, MAX_ERROR_CHARACTERS)
    .join('')
    .trim();

function messageOf(error: NodeJS.ErrnoException): string {
  const { code = 'unknown' } = error;
  if (
    error.name === 'HTTPParserError' ||
    error.message.startsWith('bad ') ||
    INVALID_RESPONSE_CODES.includes(code)
  )
    return NOT_HTTP;
  if (code === 'UND_ERR_SOCKET') return CLOSED;
  if (error instanceof ForbiddenUrlError) return `The URL ${error.message}`;
  if (['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ESERVFAIL', 'ETIMEOUT', 'EREFUSED'].includes(code))
    return `The host name does not resolve (${code})`;
  return `The connection failed (${code})`;
}
