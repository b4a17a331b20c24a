import {
  Inject,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { withoutSecrets, type AdminLogEntry, type AdminLogOutcome } from '@perkway/domain';
import { LOGGER, toApiError, type ForManagement } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { catchError, concatMap, from, switchMap, type Observable } from 'rxjs';
import { DataSource } from 'typeorm';
import { API_KEY_HEADER } from '../api-key.strategy.js';
import { CHANGES_NOTHING, type AuthenticatedRequest } from '../decorators.js';
import { KeyStore } from '../key-store.js';
import { AdminLogRelay } from './admin-log-relay.js';

/** Injects the name of the host in the log. */
export const ADMIN_LOG_HOST = Symbol('ADMIN_LOG_HOST');

const INSERT = 'insert into admin_log_outbox (record) values ($1)';
/** Larger states are omitted, because a record must fit into a message of the broker. */
const MAX_BYTES = 400_000;
const READ_TIMEOUT_MS = 5_000;

/**
 * Logs every changing management call that was made with an API key, not in the console. The entry is written before
 * the call is handled, and its outcome before the response is sent. If the entry cannot be written, the call is not
 * handled.
 */
@Injectable()
export class AdminLogInterceptor implements NestInterceptor, ForManagement {
  readonly isForManagement = true;

  constructor(
    private readonly keys: KeyStore,
    private readonly dataSource: DataSource,
    private readonly relay: AdminLogRelay,
    private readonly reflector: Reflector,
    @Inject(ADMIN_LOG_HOST) private readonly host: string,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const isChange =
      !['GET', 'HEAD'].includes(request.method) && !this.reflector.get(CHANGES_NOTHING, context.getHandler());
    if (!isChange || !request.routeOptions.url?.startsWith('/admin/')) return next.handle();
    const key = this.keys.peek(String(request.headers[API_KEY_HEADER]));
    if (key?.isConsole) return next.handle();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return from(this.begin(request, key?.name ?? null)).pipe(
      switchMap((id) =>
        next.handle().pipe(
          concatMap(async (after: unknown) => {
            await this.end(id, reply.statusCode, after);
            return after;
          }),
          catchError(async (error: unknown) => {
            const { status, code } = toApiError(error);
            await this.end(id, status, { refused: code });
            throw error;
          }),
        ),
      ),
    );
  }

  private async begin(request: AuthenticatedRequest, keyName: string | null): Promise<string> {
    const { account, role, keyId } = request.caller!;
    const [path] = request.url.split('?', 1);
    const entry: AdminLogEntry = {
      id: randomUUID(),
      at: new Date().toISOString(),
      account,
      role,
      keyId,
      keyName,
      action: request.method,
      host: this.host,
      path: path!,
      before: logged(await stateBefore(request, path!)),
    };
    await this.dataSource.query(INSERT, [JSON.stringify(entry)]);
    return entry.id;
  }

  private async end(id: string, status: number, after: unknown): Promise<void> {
    const outcome: AdminLogOutcome = { id, at: new Date().toISOString(), status, after: logged(after) };
    await this.dataSource
      .query(INSERT, [JSON.stringify(outcome)])
      .catch((err: unknown) =>
        this.logger.error({ err, entry: id }, 'could not write the outcome of a management call'),
      );
    this.relay.wake();
  }
}

function logged(state: unknown): unknown {
  const kept = withoutSecrets(state ?? null);
  return Buffer.byteLength(JSON.stringify(kept)) > MAX_BYTES ? { omitted: 'too large' } : kept;
}

/** Reads the state that a call is about to change, by a GET to this app with the caller's key. */
async function stateBefore(
  { method, socket, headers }: AuthenticatedRequest,
  path: string,
): Promise<unknown> {
  // A single key cannot be read, so this reads the list of the account's keys.
  const [, keys, keyId] = /^(\/admin\/accounts\/[^/]+\/keys)\/([^/]+)(?:\/rotate)?$/.exec(path) ?? [];
  if (method === 'POST' && !keys) return null;
  try {
    // The app may listen on one address only.
    const { localFamily, localAddress, localPort } = socket;
    const host = localFamily === 'IPv6' ? `[${localAddress}]` : localAddress;
    const response = await fetch(`http://${host}:${localPort}${keys ?? path}`, {
      headers: { [API_KEY_HEADER]: String(headers[API_KEY_HEADER]) },
      signal: AbortSignal.timeout(READ_TIMEOUT_MS),
    });
    const state: unknown = response.ok ? await response.json() : null;
    return Array.isArray(state) ? state.find(({ id }: { id: string }) => id === keyId) : state;
  } catch {
    return null;
  }
}
