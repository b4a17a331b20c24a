import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ClientNats } from '@nestjs/microservices';
import {
  replyPrefix,
  ApiError,
  ERROR_CODES,
  unavailable,
  type AppName,
  type LookupReply,
  type LookupRequest,
  type RpcContract,
} from '@perkway/domain';
import { firstValueFrom, timeout } from 'rxjs';
import { APP_NAME } from '../config/app-tokens.js';
import { NatsService } from './nats.service.js';
import { failureOf } from './rpc-failure.js';

const REQUEST_TIMEOUT_MS = 1_000;

/** Nest's NATS client over the app's own connection, which handles reconnects itself. */
class SharedConnectionClient extends ClientNats {
  constructor(
    private readonly nats: NatsService,
    prefix: string,
  ) {
    super({ inboxPrefix: prefix });
  }

  override async connect() {
    this.natsClient = await this.nats.connected();
    return this.natsClient;
  }
}

/** Sends requests to other apps over NATS. */
@Injectable()
export class RpcClient implements OnApplicationShutdown {
  /** Clients by the prefix of their reply inboxes. */
  private readonly clients = new Map<string, SharedConnectionClient>();

  constructor(
    private readonly nats: NatsService,
    @Inject(APP_NAME) private readonly app: string,
  ) {}

  /**
   * @param contract one of `RPC_CONTRACTS` of the domain library
   * @param timeoutMs per attempt; a message is sent once more if there is no reply or the owner lacks a dependency
   * @throws ApiError DEPENDENCY_UNAVAILABLE if the owner is unavailable, INTERNAL_ERROR if it fails to handle the
   * request; both have a cause
   */
  request<Request extends object, Reply extends object>(
    contract: RpcContract<Request, Reply>,
    request: NoInfer<Request>,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<Reply> {
    const send = <Part>(message: object) => this.send<Part>(contract, message, timeoutMs);
    const { maxIdsPerMessage } = contract;
    return maxIdsPerMessage === undefined
      ? send<Reply>(request)
      : (lookUp(request as unknown as LookupRequest, maxIdsPerMessage, send) as Promise<Reply>);
  }

  onApplicationShutdown() {
    for (const client of this.clients.values()) client.handleClose();
  }

  private clientFor(owner: AppName): SharedConnectionClient {
    const prefix = replyPrefix(this.app, owner);
    let client = this.clients.get(prefix);
    if (!client) {
      client = new SharedConnectionClient(this.nats, prefix);
      this.clients.set(prefix, client);
    }
    return client;
  }

  private async send<Reply>(
    { subject, owner, serviceName }: { subject: string; owner: AppName; serviceName: string },
    request: object,
    timeoutMs: number,
  ): Promise<Reply> {
    const client = this.clientFor(owner);
    for (let attempt = 1; ; attempt += 1)
      try {
        return await firstValueFrom(client.send<Reply>(subject, request).pipe(timeout(timeoutMs)));
      } catch (error) {
        const { mayRetry, cause } = failureOf(error, subject);
        if (!mayRetry) throw new ApiError('INTERNAL_ERROR', ERROR_CODES.INTERNAL_ERROR.title, [], { cause });
        if (attempt === 2) throw unavailable(serviceName, cause);
      }
  }
}

/** Sends as many ids per message as allowed, and then those whose values did not fit into the reply. */
async function lookUp(
  request: LookupRequest,
  maxIdsPerMessage: number,
  send: (part: LookupRequest) => Promise<LookupReply<unknown>>,
): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = Object.create(null);
  let size = maxIdsPerMessage;
  for (let from = 0; from < request.ids.length;) {
    const response = await send({ ...request, ids: request.ids.slice(from, from + size) });
    Object.assign(found, response.found);
    from += response.answered;
    // About as many values will fit next time.
    size = response.answered;
  }
  return found;
}
