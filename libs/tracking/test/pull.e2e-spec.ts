import { connectTo, testNats, type TestNats } from '@perkway/testing';
import type { NatsConnection } from '@nats-io/transport-node';
import { Pull } from '../src/pull.js';

let nats: TestNats;
let connection: NatsConnection;
beforeAll(async () => {
  nats = await testNats();
  connection = await connectTo(nats.url);
});
afterAll(async () => {
  await connection?.close();
  await nats?.close();
});

/** Responds to each fetch in place of JetStream. */
const respond = (...payloads: string[]) =>
  connection.subscribe('$JS.API.CONSUMER.MSG.NEXT.S.C', {
    callback: (_error, { reply }) => {
      for (const payload of payloads) connection.publish(reply!, payload);
    },
  });

describe('a fetch', () => {
  it('ends with its messages when the broker does not say that it has expired', async () => {
    const broker = respond('one', 'two');
    const received: string[] = [];
    try {
      await new Pull(connection, 'events', 'S', 'C').run(
        { messages: 5, bytes: 1_000, expiresMs: 100 },
        ({ data }) => received.push(Buffer.from(data).toString()),
      );
    } finally {
      broker.unsubscribe();
    }
    expect(received).toEqual(['one', 'two']);
  });

  it('fails when the broker does not respond at all', async () => {
    const fetch = new Pull(connection, 'events', 'S', 'C').run(
      { messages: 5, bytes: 1_000, expiresMs: 100 },
      () => undefined,
    );
    await expect(fetch).rejects.toThrow('the broker does not respond to a fetch');
  });
});
