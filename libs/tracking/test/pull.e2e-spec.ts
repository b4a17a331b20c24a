import { connectTo, testNats, waitFor, type TestNats } from '@perkway/testing';
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

  it('ends when asked, with the messages that the broker has already sent', async () => {
    const received: string[] = [];
    const fetch = new Pull(connection, 'events', 'S', 'C');
    const other = await connectTo(nats.url);
    let reply = '';
    const broker = other.subscribe('$JS.API.CONSUMER.MSG.NEXT.S.C', {
      callback: (_error, message) => {
        reply = message.reply!;
      },
    });
    try {
      await other.flush();
      const ended = fetch.run({ messages: 5, bytes: 1_000, expiresMs: 60_000 }, ({ data }) =>
        received.push(Buffer.from(data).toString()),
      );
      await waitFor(() => expect(reply).not.toBe(''), 'the request');
      other.publish(reply, 'sent before the end');
      await other.flush();
      fetch.end();
      await ended;
    } finally {
      broker.unsubscribe();
      await other.close();
    }
    expect(received).toEqual(['sent before the end']);
  });
});
