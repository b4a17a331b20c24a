import type { JetStreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { Inject, Injectable } from '@nestjs/common';
import {
  TRACKING_DEAD_STREAM,
  TRACKING_DEAD_SUBJECT,
  TRACKING_STREAM,
  trackingSubject,
  type Erasure,
} from '@perkway/domain';
import { NatsService } from '@perkway/platform';
import { hash } from 'node:crypto';
import { eraseFromMessage } from './erase-from-message.js';

/** Asked for at once while a stream is gone through. */
const MESSAGES_AT_ONCE = 64;
const CALL_TIMEOUT_MS = 10_000;
const REASON = 'Perkway-Reason';

/**
 * Takes persons out of the streams. A message cannot be changed: a copy without them is put behind, then the message is
 * overwritten. An event of both is stored once.
 */
@Injectable()
export class StreamEraser {
  constructor(@Inject(NatsService) private readonly nats: NatsService) {}

  /** All of both streams, up to what they hold now. */
  async erase(erasures: readonly Erasure[]): Promise<void> {
    const manager = await this.nats.manager(CALL_TIMEOUT_MS);
    for (const stream of [TRACKING_STREAM, TRACKING_DEAD_STREAM]) {
      const { state } = await manager.streams.info(stream);
      for (let from = Math.max(1, state.first_seq); from <= state.last_seq; from += MESSAGES_AT_ONCE) {
        const length = Math.min(MESSAGES_AT_ONCE, state.last_seq - from + 1);
        await Promise.all(
          Array.from({ length }, (_, index) => this.eraseAt(manager, stream, from + index, erasures)),
        );
      }
    }
  }

  /** One message of the kept stream. */
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
        ? this.bury(left, message.header.get(REASON))
        : this.publish(left));
    try {
      await manager.streams.deleteMessage(stream, seq, true);
    } catch (error) {
      // Another replica was first.
      if (await manager.streams.getMessage(stream, { seq })) throw error;
    }
  }

  private async publish(message: string): Promise<void> {
    await this.nats.jetstream!.publish(trackingSubject('analytics-query'), message);
  }

  private async bury(message: string, reason: string): Promise<void> {
    const named = headers();
    named.set(REASON, reason);
    const msgID = hash('sha256', message, 'hex');
    await this.nats.jetstream!.publish(TRACKING_DEAD_SUBJECT, message, { headers: named, msgID });
  }
}
