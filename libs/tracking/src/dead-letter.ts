import { headers } from '@nats-io/transport-node';
import { TRACKING_DEAD_SUBJECT, TRACKING_SOURCE_HEADER } from '@perkway/domain';
import type { NatsService } from '@perkway/platform';
import { hash } from 'node:crypto';
import type { RejectedEvent } from './read-message.js';

/**
 * Publishes an event that cannot be stored to the dead-letter stream, as a message that can be published again. A message
 * that contains no event is published unchanged. Resolves when the stream has it.
 * @throws without a connection to the broker
 */
export async function publishDeadLetter(
  { jetstream }: Pick<NatsService, 'jetstream'>,
  { content, reason, source }: RejectedEvent,
): Promise<void> {
  if (!jetstream) throw new Error('NATS is not connected');
  const body = 'message' in content ? content.message : JSON.stringify({ events: [content.event] });
  const named = headers();
  named.set('Perkway-Reason', reason);
  named.set(TRACKING_SOURCE_HEADER, source);
  // The same message may be delivered again before it is acknowledged.
  await jetstream.publish(TRACKING_DEAD_SUBJECT, body, {
    headers: named,
    msgID: hash('sha256', body, 'hex'),
  });
}
