import { Injectable } from '@nestjs/common';
import { DomainError } from '@perkway/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { answerOf, FleetClients } from '../fleet/fleet-clients.js';
import { createdBy } from '../sessions/created-by.js';
import type { Session } from '../sessions/session.js';
import { FleetCalls, LONG_PATIENCE_MS, type FleetCall } from './fleet-calls.js';
import type { Operation } from './operations.js';

/** What of a request and an answer goes through. */
const ASKED = ['accept', 'accept-language', 'content-type', 'if-match', 'if-none-match'];
const ANSWERED = [
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

  /** Makes the call for the session and passes on what is answered, as it comes. */
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
      // Goes on when the browser has left: an upload that has been sent is found again, and the log knows the outcome.
      const { status, headers, body } = await this.change(session, operation, target.path, call);
      answer(reply, status, headers);
      void reply.send(body);
      return;
    }
    let answered = await this.calls.send({ ...call, signal: gone.signal });
    if (answered.status === 401 && operation.host === 'query' && !(call.body instanceof Readable)) {
      // The keys of the tokens may have changed meanwhile.
      this.clients.forget(session);
      const authorization = await this.tokenOf(session);
      answered = await this.calls.send({
        ...call,
        headers: { ...call.headers, authorization },
        signal: gone.signal,
      });
    }
    if (answered.status === 401) throw new DomainError('SESSION_ENDED');
    answer(reply, answered.status, answered.headers);
    void reply.send(
      answered.body ? Readable.fromWeb(answered.body as ReadableStream, { signal: gone.signal }) : null,
    );
  }

  private tokenOf(session: Session): Promise<string> {
    return answerOf('token', this.clients.of(session).analytics.token());
  }

  private async callOf(
    session: Session,
    { host, method }: Operation,
    { path, query }: Target,
    request: FastifyRequest,
  ): Promise<FleetCall> {
    const headers: Record<string, string> = { 'x-request-id': request.id };
    for (const name of ASKED) {
      const given = request.headers[name];
      if (typeof given === 'string') headers[name] = given;
    }
    if (host === 'query') headers.authorization = await this.tokenOf(session);
    else headers['x-api-key'] = session.key;
    // Whoever looks around in the console is no customer.
    if (host === 'perks') headers['x-disable-view-tracking'] = 'true';
    if (host === 'gift') headers['x-created-by'] = createdBy(session);
    const hasBody = method !== 'GET' && request.body !== undefined && request.body !== null;
    if (!hasBody) delete headers['content-type'];
    const isUpload = request.body instanceof Readable;
    return {
      host,
      method,
      address: path + withoutCredentials(query),
      headers,
      ...(hasBody ? { body: isUpload ? (request.body as Readable) : JSON.stringify(request.body) } : {}),
      ...(isUpload || host === 'query' ? { patienceMs: LONG_PATIENCE_MS } : {}),
    };
  }

  /** Answers of changes are small; the log has them too. */
  private async change(session: Session, operation: Operation, path: string, call: FleetCall) {
    const { host, method } = operation;
    const before = await this.stateBefore(session, operation, path);
    return this.log.record(
      session,
      { action: method, host, path, before },
      async () => {
        const answered = await this.calls.send(call);
        if (answered.status === 401) throw new DomainError('SESSION_ENDED');
        return { status: answered.status, headers: answered.headers, body: await answered.text() };
      },
      ({ status, body }) => ({ status, after: status < 300 ? parse(body) : { refused: codeIn(body) } }),
    );
  }

  private async stateBefore(session: Session, operation: Operation, path: string): Promise<unknown> {
    const { host, method } = operation;
    const [, keys, keyId] = /^(\/admin\/accounts\/[^/]+\/keys)\/([^/]+)$/.exec(path) ?? [];
    const isReplaced = operation.isReadable && (method === 'PUT' || method === 'DELETE');
    if (!keys && !isReplaced) return null;
    const answered = await this.calls.send({
      host,
      method: 'GET',
      address: keys ?? path,
      headers: { 'x-api-key': session.key, accept: 'application/json' },
    });
    const body = await answered.text();
    const state = answered.ok ? parse(body) : null;
    return keys && Array.isArray(state) ? (state.find(({ id }) => id === keyId) ?? null) : state;
  }
}

function answer(reply: FastifyReply, status: number, headers: Headers): void {
  void reply.code(status).header('cache-control', 'no-store');
  for (const name of ANSWERED) {
    const value = headers.get(name);
    if (value !== null) void reply.header(name, value);
  }
}

/** The session says who is asking. */
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
