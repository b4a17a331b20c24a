import { createLogger } from '@perkway/platform';
import { EventEmitter } from 'node:events';
import { Registry } from 'prom-client';
import { AtRiskBuffer } from './at-risk-buffer.js';
import type { Outbox } from './outbox.js';
import { Relay } from './relay.js';
import { CHARACTERS_PER_MESSAGE } from './tracking-messages.js';
import { TrackingMetrics } from './tracking-metrics.js';
import type { TrackingStream } from './tracking-stream.js';

interface Around {
  publish?: TrackingStream['publish'];
  relay?: Outbox['relay'];
  write?: Outbox['write'];
  isUnavailable?: boolean;
}

const NOTHING: Outbox['relay'] = async () => ({ taken: 0, delivered: true });

function aRelay({ publish, relay = NOTHING, write, isUnavailable = false }: Around) {
  const stream = Object.assign(new EventEmitter(), { publish, isUnavailable }) as unknown as TrackingStream;
  const outbox = Object.assign(new EventEmitter(), {
    relay,
    write,
    backlog: async () => ({ events: 1, oldestS: 1 }),
  }) as unknown as Outbox;
  const buffer = new AtRiskBuffer(10, 1_000);
  const metrics = new TrackingMetrics(new Registry(), buffer, stream);
  return {
    relay: new Relay(stream, outbox, buffer, metrics, createLogger('test', 'silent')),
    outbox,
    metrics,
  };
}

describe('a batch of the outbox that takes several messages', () => {
  const batch = Array.from({ length: 3 }, () => 'x'.repeat(CHARACTERS_PER_MESSAGE - 1));
  /** Relays the batch to a stream that accepts message n if `takes[n]` is true. */
  const relayBatch = async (takes: boolean[]) => {
    let messages = 0;
    let isDeleted: boolean | undefined;
    let looked = () => {};
    const hasLooked = new Promise<void>((resolve) => (looked = resolve));
    const { relay, metrics } = aRelay({
      publish: async () => takes[messages++]!,
      relay: async (limit, deliver) => {
        if (isDeleted !== undefined) return NOTHING(limit, deliver);
        isDeleted = await deliver(batch);
        looked();
        return { taken: batch.length, delivered: isDeleted };
      },
    });
    relay.start();
    await hasLooked;
    await relay.stop(() => true);
    const relayed = (await metrics.relayed.get()).values[0]!.value;
    return { messages, isDeleted, relayed };
  };

  it('is deleted when the stream took all messages', async () => {
    expect(await relayBatch([true, true, true])).toEqual({
      messages: 3,
      isDeleted: true,
      relayed: 3,
    });
  });

  it.each([
    [true, true, false],
    [false, true, true],
    [false, false, false],
  ])('is kept when the stream refused one (%s, %s, %s)', async (...takes) => {
    expect(await relayBatch(takes)).toEqual({ messages: 3, isDeleted: false, relayed: 0 });
  });
});

it('events that went from memory to the outbox are published again when the database becomes unavailable', async () => {
  const written: string[][] = [];
  let next = () => {};
  const nextWrite = () => new Promise<void>((resolve) => (next = resolve));
  const { relay, outbox } = aRelay({
    isUnavailable: true,
    write: async (events) => {
      written.push([...events]);
      next();
      return true;
    },
  });
  relay.start();
  let writing = nextWrite();
  relay.keepInMemory(['one', 'two']);
  await writing;
  // Lets the relay remember the events as written, before the database becomes unavailable.
  await new Promise((resolve) => setImmediate(resolve));
  writing = nextWrite();
  outbox.emit('lost');
  await writing;
  await relay.stop(() => true);
  expect(written).toEqual([
    ['one', 'two'],
    ['one', 'two'],
  ]);
});
