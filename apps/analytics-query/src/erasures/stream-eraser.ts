import type { JetStreamManager } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import { Injectable } from '@nestjs/common';
import {
  sourceOf,
  TRACKING_DEAD_STREAM,
  TRACKING_DEAD_SUBJECT,
  TRACKING_SOURCE_HEADER,
  TRACKING_STREAM,
  trackingSubject,
  type Erasure,
} from '@perkway/domain';
import { NatsService } from '@perkway/platform';
import { hash } from 'node:crypto';
import { eraseFromMessage } from './erase-from-message.js';

/** Messages read concurrently from a stream. */
const CONCURRENT_READS = 64;
const CALL_TIMEOUT_MS = 10_000;
const REASON = 'Perkway-Reason';

/**
 * Erases people's data from the streams. A message cannot be changed, so a copy without the data is published first,
 * then the original is deleted and overwritten. A message that cannot be parsed is deleted without a copy. Ingest
 * stores an event only once, even if it receives both messages.
 */
@Injectable()
export class StreamEraser {
  constructor(private readonly nats: NatsService) {}

  /** Erases from both streams, up to their current last message. */
  async erase(erasures: readonly Erasure[]): Promise<void> {
    const manager = await this.nats.manager(CALL_TIMEOUT_MS);
    for (const stream of [TRACKING_STREAM, TRACKING_DEAD_STREAM]) {
      const { state } = await manager.streams.info(stream);
      for (let from = Math.max(1, state.first_seq); from <= state.last_seq; from += CONCURRENT_READS) {
        const length = Math.min(CONCURRENT_READS, state.last_seq - from + 1);
        await Promise.all(
          Array.from({ length }, (_, index) => this.eraseAt(manager, stream, from + index, erasures)),
        );
      }
    }
  }

  /** Erases from one message of the tracking stream. */
  async eraseMessage(sequence: number, erasures: readonly Erasure[]): Promise<void> {
    await this.eraseAt(await this.nats.manager(CALL_TIMEOUT_MS), TRACKING_STREAM, sequence, erasures);
  }

  private async eraseAt(
    manager: JetStreamManager,
    stream: string,
    seq: number,
    erasures: readonly Erasure[],
  ): Promise<void> {
    const message = await manager.streams.getMessage(stream, { seq });
    if (!message) return;
    const left = eraseFromMessage(message.data, erasures);
    if (left === undefined) return;
    if (left !== null)
      await (stream === TRACKING_DEAD_STREAM
        ? this.deadLetter(left, message.header)
        : this.publish(left, sourceOf(message.subject, message.header.get(TRACKING_SOURCE_HEADER))));
    try {
      await manager.streams.deleteMessage(stream, seq, true);
    } catch (error) {
      // Another replica may have deleted it first.
      if (await manager.streams.getMessage(stream, { seq })) throw error;
    }
  }

  private async publish(message: string, source: string): Promise<void> {
    const named = headers();
    named.set(TRACKING_SOURCE_HEADER, source);
    await this.nats.jetstream!.publish(trackingSubject('analytics-query'), message, { headers: named });
  }

  private async deadLetter(message: string, named: MsgHdrs): Promise<void> {
    const kept = headers();
    for (const name of [REASON, TRACKING_SOURCE_HEADER]) kept.set(name, named.get(name));
    const msgID = hash('sha256', message, 'hex');
    await this.nats.jetstream!.publish(TRACKING_DEAD_SUBJECT, message, { headers: kept, msgID });
  }
}
