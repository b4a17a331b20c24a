import type { LookupRequest, RpcContract } from '@perkway/domain';
import { fitIntoMessage } from '@perkway/platform';
import { connectTo } from './test-nats.js';

/** The request format of Nest's NATS client. */
interface NestRequest<Data> {
  id: string;
  data: Data;
}

export interface RpcResponder<Request> {
  /** All requests so far. */
  requests: Request[];
  close(): Promise<void>;
}

/**
 * Serves one RPC contract over a real broker in place of the app that owns it, in Nest's wire format. If the handler
 * throws, the error's message becomes the error code. If it returns undefined, no response is sent.
 */
export async function respond<Request extends object, Reply extends object>(
  natsUrl: string,
  { subject, maxIdsPerMessage }: RpcContract<Request, Reply>,
  handler: (request: Request) => Reply | undefined | Promise<Reply | undefined>,
): Promise<RpcResponder<Request>> {
  const connection = await connectTo(natsUrl, { maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const requests: Request[] = [];
  const toResponse = (request: Request, reply: object): object =>
    maxIdsPerMessage === undefined
      ? reply
      : fitIntoMessage((request as unknown as LookupRequest).ids, reply as Record<string, unknown>);
  connection.subscribe(subject, {
    callback: (failure, message) => {
      if (failure) throw failure;
      const { id, data } = message.json<NestRequest<Request>>();
      requests.push(data);
      const respond = (body: object) => message.respond(JSON.stringify({ id, isDisposed: true, ...body }));
      Promise.resolve()
        .then(() => handler(data))
        .then((reply) => reply && respond({ response: toResponse(data, reply) }))
        .catch((error: Error) => respond({ err: { status: 'error', message: error.message } }));
    },
  });
  // After the flush the broker knows the subscription.
  await connection.flush();
  return { requests, close: () => connection.close() };
}
