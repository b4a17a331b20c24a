import type { EventType, FeedEvent } from '@perkway/domain';

/** The columns of `events` that make an event as it is on the wire. */
export const EVENT_COLUMNS = 'position, id, type, occurred_at, subject, data, erased';

export interface EventRow {
  /** A bigint, which the driver reads as text. */
  position: string;
  id: string;
  type: EventType;
  occurred_at: Date;
  subject: string;
  data: Record<string, unknown>;
  erased: boolean;
}

export const toEvent = ({ id, type, occurred_at, subject, data, erased }: EventRow): FeedEvent => ({
  id,
  type,
  occurred_at: occurred_at.toISOString(),
  subject,
  data,
  ...(erased ? { erased } : {}),
});
