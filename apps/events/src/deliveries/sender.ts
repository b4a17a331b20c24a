import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupFunction } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { LRUCache } from 'lru-cache';
import type { NetworkPolicy } from './network-policy.js';
import { dnsResolver, type Resolve } from './resolver.js';
import { ForbiddenUrlError, hostOf, parseWebhookUrl, requirePermitted } from './webhook-url.js';

const ATTEMPT_TIMEOUT_MS = 15_000;
/** Limit for reading the body after the headers. A body read within it lets the connection be reused. */
const DRAIN_TIMEOUT_MS = 1_000;
const MAX_RESPONSE_BYTES = 1_024;
const MAX_ERROR_CHARACTERS = 200;
/** Below the 5 s after which many servers close idle connections. */
const IDLE_CONNECTION_MS = 4_000;
const MAX_IDLE_CONNECTIONS = 256;
const MAX_TARGETS = 2_000;

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

/**
 * Posts signed bodies to the URLs of webhooks. Addresses are checked in the lookup of each new connection, so DNS
 * cannot return one address for the check and another for the connection.
 */
export class Sender {
  private readonly policy: NetworkPolicy;
  private readonly resolve: Resolve;
  private readonly timeoutMs: number;
  private isClosed = false;
  /** By URL: how to send a request there. */
  private readonly targets = new LRUCache<string, https.RequestOptions>({ max: MAX_TARGETS });
  private readonly agents: { 'http:': http.Agent; 'https:': https.Agent };

  constructor({ policy, resolve = dnsResolver(), timeoutMs = ATTEMPT_TIMEOUT_MS, ca }: SenderOptions) {
    this.policy = policy;
    this.resolve = resolve;
    this.timeoutMs = timeoutMs;
    const options = { keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, timeout: IDLE_CONNECTION_MS };
    this.agents = { 'http:': new http.Agent(options), 'https:': new https.Agent({ ...options, ca }) };
  }

  /** Makes one attempt. Never throws: an error is in the result. */
  async post(target: string, headers: Record<string, string>, body: string): Promise<AttemptResult> {
    let options = this.targets.get(target);
    try {
      options ??= this.optionsFor(parseWebhookUrl(target, this.policy));
    } catch (error) {
      return failure(null, `The URL ${(error as Error).message}`);
    }
    this.targets.set(target, options);
    const deadline = Date.now() + this.timeoutMs;
    for (;;) {
      const result = await this.attempt(options, headers, body, deadline - Date.now());
      if (result !== 'stale connection') return result;
    }
  }

  /** Closes all connections, which ends the running attempts. */
  close(): void {
    this.isClosed = true;
    for (const agent of Object.values(this.agents)) agent.destroy();
  }

  private optionsFor(url: URL): https.RequestOptions {
    const agent = this.agents[url.protocol as 'http:' | 'https:'];
    return { ...urlToHttpOptions(url), method: 'POST', agent, lookup: this.lookup(url) };
  }

  private attempt(
    options: https.RequestOptions,
    headers: Record<string, string>,
    body: string,
    timeoutMs: number,
  ): Promise<AttemptResult | 'stale connection'> {
    const { request } = options.protocol === 'https:' ? https : http;
    return new Promise((settle) => {
      const post = request({
        ...options,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Perkway-Webhooks',
        },
      });
      const end = (result: AttemptResult | 'stale connection') => {
        clearTimeout(timer);
        settle(result);
      };
      let timer = setTimeout(() => {
        end(failure(null, `No response within ${this.timeoutMs / 1_000} s`));
        post.destroy();
      }, timeoutMs);
      let hasResponded = false;
      post.on('response', (response) => {
        hasResponded = true;
        const chunks: Buffer[] = [];
        let size = 0;
        const finish = () => end(resultOf(response, Buffer.concat(chunks)));
        clearTimeout(timer);
        timer = setTimeout(() => post.destroy(), DRAIN_TIMEOUT_MS);
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > MAX_RESPONSE_BYTES) post.destroy();
        });
        response.on('error', finish).on('close', finish);
      });
      post.on('error', (error: NodeJS.ErrnoException) => {
        const isStale = !this.isClosed && post.reusedSocket && error.code === 'ECONNRESET';
        end(isStale ? 'stale connection' : failure(null, messageOf(error)));
      });
      post.on('upgrade', (_response, socket) => socket.destroy());
      post.on('close', () => {
        if (!hasResponded) end(failure(null, 'The connection was closed without a response'));
      });
      post.end(body);
    });
  }

  private lookup(url: URL): LookupFunction {
    return (_hostname, options, callback) => {
      this.resolve(hostOf(url))
        .then((addresses) => {
          requirePermitted(url, addresses, this.policy);
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

const failure = (status: number | null, error: string): AttemptResult => ({
  isSuccess: false,
  status,
  error,
});

function resultOf({ statusCode: status, headers }: http.IncomingMessage, body: Buffer): AttemptResult {
  if (status! >= 200 && status! < 300) return { isSuccess: true, status: status!, error: null };
  const isRedirect = status! >= 300 && status! < 400;
  const text = isRedirect ? 'Redirects are not followed' : firstCharacters(body) || `Status ${status}`;
  return { ...failure(status!, text), retryAfter: headers['retry-after'] };
}

const firstCharacters = (body: Buffer): string =>
  [...body.toString('utf8', 0, MAX_RESPONSE_BYTES).replaceAll(/[\p{C}\s]+/gu, ' ')]
    .slice(0, MAX_ERROR_CHARACTERS)
    .join('')
    .trim();

function messageOf(error: NodeJS.ErrnoException): string {
  const { code = 'unknown' } = error;
  if (error instanceof ForbiddenUrlError) return `The URL ${error.message}`;
  if (['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ESERVFAIL', 'ETIMEOUT', 'EREFUSED'].includes(code))
    return `The host name does not resolve (${code})`;
  return `The connection failed (${code})`;
}
