import { connect } from '@nats-io/transport-node';

/** What Nest's NATS client sends for a request. */
interface NestRequest<Data> {
  id: string;
  data: Data;
}

export interface Answering<Data> {
  /** The requests so far. */
  requests: Data[];
  close(): Promise<void>;
}

/**
 * Answers one request/reply subject over a real broker in place of the app that owns it, in the wire format of Nest.
 * A handler that throws answers an error; one that returns undefined does not answer at all.
 */
export async function answer<Data, Reply extends object>(
  natsUrl: string,
  subject: string,
  handler: (data: Data) => Reply | undefined | Promise<Reply | undefined>,
): Promise<Answering<Data>> {
  const connection = await connect({ servers: natsUrl, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const requests: Data[] = [];
  connection.subscribe(subject, {
    callback: (failure, message) => {
      if (failure) throw failure;
      const { id, data } = message.json<NestRequest<Data>>();
      requests.push(data);
      const reply = (body: object) => message.respond(JSON.stringify({ id, isDisposed: true, ...body }));
      Promise.resolve()
        .then(() => handler(data))
        .then((response) => response && reply({ response }))
        .catch((error: Error) => reply({ err: { status: 'error', message: error.message } }));
    },
  });
  // From here on the broker knows of the subscription.
  await connection.flush();
  return { requests, close: () => connection.close() };
}
