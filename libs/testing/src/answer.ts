import type { LookupRequest, Question } from '@perkway/domain';
import { fitIntoMessage } from '@perkway/platform';
import { connectTo } from './test-nats.js';

/** What Nest's NATS client sends for a request. */
interface NestRequest<Data> {
  id: string;
  data: Data;
}

export interface Answering<Request> {
  /** The requests so far. */
  requests: Request[];
  close(): Promise<void>;
}

/**
 * Answers one question over a real broker in place of the app that owns it, in the wire format of Nest. A handler that
 * throws answers its message as the code of an error; one that returns undefined does not answer at all.
 */
export async function answer<Request extends object, Reply extends object>(
  natsUrl: string,
  { subject, atOnce }: Question<Request, Reply>,
  handler: (request: Request) => Reply | undefined | Promise<Reply | undefined>,
): Promise<Answering<Request>> {
  const connection = await connectTo(natsUrl, { maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const requests: Request[] = [];
  const toAnswer = (request: Request, reply: object): object =>
    atOnce === undefined
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
        .then((reply) => reply && respond({ response: toAnswer(data, reply) }))
        .catch((error: Error) => respond({ err: { status: 'error', message: error.message } }));
    },
  });
  // From here on the broker knows of the subscription.
  await connection.flush();
  return { requests, close: () => connection.close() };
}
