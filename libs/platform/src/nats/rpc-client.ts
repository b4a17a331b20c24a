import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ClientNats } from '@nestjs/microservices';
import {
  answersPrefix,
  DomainError,
  ERROR_CODES,
  unavailable,
  type AppName,
  type LookupAnswer,
  type LookupRequest,
  type Question,
} from '@perkway/domain';
import { firstValueFrom, timeout } from 'rxjs';
import { APP_NAME } from '../config/app-tokens.js';
import { NatsService } from './nats.service.js';
import { failureOf } from './rpc-failure.js';

const REQUEST_TIMEOUT_MS = 1_000;

/** Nest's NATS client over the app's own connection, which looks after itself. */
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

/** Asks other apps over NATS. */
@Injectable()
export class RpcClient implements OnApplicationShutdown {
  /** By the prefix of the inboxes that answers come to. */
  private readonly clients = new Map<string, SharedConnectionClient>();

  constructor(
    @Inject(NatsService) private readonly nats: NatsService,
    @Inject(APP_NAME) private readonly app: string,
  ) {}

  /**
   * @param question one of `QUESTIONS` of the domain library
   * @param timeoutMs for each message; one that nobody answers is sent once more
   * @throws DomainError DEPENDENCY_UNAVAILABLE while the owner is away, INTERNAL_ERROR when it fails to answer this;
   * either has what happened as its cause
   */
  ask<Request extends object, Reply extends object>(
    question: Question<Request, Reply>,
    request: NoInfer<Request>,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<Reply> {
    const send = <Answer>(part: object) => this.send<Answer>(question, part, timeoutMs);
    const { atOnce } = question;
    return atOnce === undefined
      ? send<Reply>(request)
      : (lookUp(request as unknown as LookupRequest, atOnce, send) as Promise<Reply>);
  }

  onApplicationShutdown() {
    for (const client of this.clients.values()) client.handleClose();
  }

  private clientFor(owner: AppName): SharedConnectionClient {
    const prefix = answersPrefix(this.app, owner);
    let client = this.clients.get(prefix);
    if (!client) {
      client = new SharedConnectionClient(this.nats, prefix);
      this.clients.set(prefix, client);
    }
    return client;
  }

  private async send<Reply>(
    { subject, owner, away }: { subject: string; owner: AppName; away: string },
    request: object,
    timeoutMs: number,
  ): Promise<Reply> {
    const client = this.clientFor(owner);
    for (let attempt = 1; ; attempt += 1)
      try {
        return await firstValueFrom(client.send<Reply>(subject, request).pipe(timeout(timeoutMs)));
      } catch (error) {
        const { isAway, cause } = failureOf(error, subject);
        if (!isAway) throw new DomainError('INTERNAL_ERROR', ERROR_CODES.INTERNAL_ERROR.title, [], { cause });
        if (attempt === 2) throw unavailable(away, cause);
      }
  }
}

/** As many ids in one message as may be, and again for those that the answer had no room for. */
async function lookUp(
  request: LookupRequest,
  atOnce: number,
  send: (part: LookupRequest) => Promise<LookupAnswer<unknown>>,
): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = Object.create(null);
  let size = atOnce;
  for (let from = 0; from < request.ids.length;) {
    const answer = await send({ ...request, ids: request.ids.slice(from, from + size) });
    Object.assign(found, answer.found);
    from += answer.answered;
    // About as many will fit the next time.
    size = answer.answered;
  }
  return found;
}
