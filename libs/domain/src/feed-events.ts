/** The event types of an account's feed, including `RESERVED_EVENT_TYPES`. */
export const FEED_EVENT_TYPES = [
  'perk.clicked',
  'teaser.viewed',
  'reward.viewed',
  'incentive.clicked',
  'conversion.recorded',
  'reward_link.generated',
  'reward_link.revealed',
  'reward_link.cancelled',
  'reward_link.expired',
  'pool.low',
  'pool.recovered',
  'limit.reached',
  'cards.withdrawn',
] as const;
export type FeedEventType = (typeof FEED_EVENT_TYPES)[number];

/** Types that callers may name, but that no app publishes. */
export const RESERVED_EVENT_TYPES: readonly string[] = [
  'pool.low',
  'pool.recovered',
] satisfies FeedEventType[];

/** The values that `types` accepts. A ping goes only to its webhook and is never in the feed. */
export const EVENT_TYPES = [...FEED_EVENT_TYPES, 'webhook.ping'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** An event in the feed and in webhooks. */
export interface FeedEvent {
  /** The id under which analytics stores the same interaction. It never changes. */
  id: string;
  type: EventType;
  /** ISO 8601, UTC. */
  occurred_at: string;
  /** `<kind>/<id>` of the object that the event is about. */
  subject: string;
  /** Never contains tokens, codes, keys or a person's address. */
  data: Record<string, unknown>;
  /** Present once a person was erased from the event. */
  erased?: true;
}
