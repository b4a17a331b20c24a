import { Injectable } from '@nestjs/common';
import { ApiError } from '@perkway/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { responseOf, FleetClients } from '../fleet/fleet-clients.js';
import { createdBy } from '../sessions/created-by.js';
import type { Session } from '../sessions/session.js';
import { FEED_TIMEOUT_MS, FleetCalls, LONG_TIMEOUT_MS, type FleetCall } from './fleet-calls.js';
import type { Operation } from './operations.js';

/** Request and response headers that are passed on. */
const REQUEST_HEADERS = [
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
];
const RESPONSE_HEADERS = [
  'content-type',
  'content-disposition',
  'content-language',
  'etag',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'perkway-detail',
  'idempotent-replayed',
];

/** A longer URL may, together with the headers that the console adds, exceed the limit of a host. */
const MAX_ADDRESS_LENGTH = 15_000;

interface Target {
  path: string;
  query: string;
}

@Injectable()
export class ProxyService {
  constructor(
    private readonly calls: FleetCalls,
    private readonly clients: FleetClients,
    private readonly log: AuditLog,
  ) {}

  /** Makes the call for the session and passes the response on; streams it unless the call is a change. */
  async pass(
    session: Session,
    operation: Operation,
    target: Target,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const call = await this.callOf(session, operation, target, request);
    if (operation.isChange) {
      // Not aborted if the browser leaves: the change takes place either way, and the log gets its outcome.
      const { status, headers, body } = await this.change(session, operation, target.path, call);
      if (status === 401) throw new ApiError('SESSION_ENDED');
      respond(reply, status, headers);
      // An empty string would get a content type, and null would be sent as JSON.
      void reply.send(body || undefined);
      return;
    }
    let response = await this.calls.send({ ...call, signal: gone.signal });
    if (response.status === 401 && operation.host === 'query' && !(call.body instanceof Readable)) {
      // The signing keys may have been rotated since the token was issued.
      this.clients.forget(session);
      const authorization = await this.tokenOf(session);
      response = await this.calls.send({
        ...call,
        headers: { ...call.headers, authorization },
        signal: gone.signal,
      });
    }
    if (response.status === 401) throw new ApiError('SESSION_ENDED');
    respond(reply, response.status, response.headers);
    void reply.send(
      response.body ? Readable.fromWeb(response.body as ReadableStream, { signal: gone.signal }) : undefined,
    );
  }

  private tokenOf(session: Session): Promise<string> {
    return responseOf('token', this.clients.of(session).analytics.token());
  }

  private async callOf(
    session: Session,
    { host, method }: Operation,
    { path, query }: Target,
    request: FastifyRequest,
  ): Promise<FleetCall> {
    const address = path + withoutCredentials(query);
    if (address.length > MAX_ADDRESS_LENGTH)
      throw new ApiError('VALIDATION_FAILED', `The URL has more than ${MAX_ADDRESS_LENGTH} characters`);
    const headers: Record<string, string> = { 'x-request-id': request.id };
    for (const name of REQUEST_HEADERS) {
      const given = request.headers[name];
      if (typeof given === 'string') headers[name] = given;
    }
    if (host === 'query') headers.authorization = await this.tokenOf(session);
    else headers['x-api-key'] = session.key;
    // Reads in the console are not customer views.
    if (host === 'perks') headers['x-disable-view-tracking'] = 'true';
    // `fetch` only allows Latin-1 in headers, so each UTF-8 byte is sent as one character.
    if (host === 'gift') headers['x-created-by'] = Buffer.from(createdBy(session)).toString('latin1');
    const hasBody = method !== 'GET' && request.body !== undefined && request.body !== null;
    if (!hasBody) delete headers['content-type'];
    const isUpload = request.body instanceof Readable;
    return {
      host,
      method,
      address,
      headers,
      ...(hasBody ? { body: isUpload ? (request.body as Readable) : JSON.stringify(request.body) } : {}),
      ...(isUpload || host === 'query' ? { timeoutMs: LONG_TIMEOUT_MS } : {}),
      ...(host === 'events' && method === 'GET' ? { timeoutMs: FEED_TIMEOUT_MS } : {}),
    };
  }

  /** Makes a change and logs it. Responses to changes are small enough to buffer for the log. */
  private async change(session: Session, operation: Operation, path: string, call: FleetCall) {
    const { host, method } = operation;
    const before = await this.stateBefore(session, operation, path);
    return this.log.record(
      session,
      { action: method, host, path, before },
      () => this.calls.read(call),
      ({ status, body }) => ({ status, after: status < 300 ? parse(body) : { refused: codeIn(body) } }),
    );
  }

  private async stateBefore(session: Session, operation: Operation, path: string): Promise<unknown> {
    const { host, method } = operation;
    const [, keys, keyId] = /^(\/admin\/accounts\/[^/]+\/keys)\/([^/]+)(?:\/rotate)?$/.exec(path) ?? [];
    const isReplaced = operation.isReadable && (method === 'PUT' || method === 'DELETE');
    if (!keys && !isReplaced) return null;
    const { status, body } = await this.calls.read({
      host,
      method: 'GET',
      address: keys ?? path,
      headers: { 'x-api-key': session.key, accept: 'application/json' },
    });
    const state = status < 300 ? parse(body) : null;
    return keys && Array.isArray(state) ? (state.find(({ id }) => id === keyId) ?? null) : state;
  }
}

function respond(reply: FastifyReply, status: number, headers: Headers): void {
  void reply.code(status).header('cache-control', 'no-store');
  for (const name of RESPONSE_HEADERS) {
    const value = headers.get(name);
    if (value !== null) void reply.header(name, value);
  }
}

/** Drops `api_key`: the session determines the caller. */
function withoutCredentials(query: string): string {
  const parameters = new URLSearchParams(query);
  parameters.delete('api_key');
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const codeIn = (body: string): unknown =>
  (parse(body) as { code?: unknown } | null)?.code ?? (/^[A-Z_]{1,64}$/.test(body) ? body : null);
