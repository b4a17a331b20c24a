import type { AppName } from './apps.js';
import type { CustomAttributes } from './custom-attributes.js';

/** Incremented when an event's shape changes in a way that an older reader would misread. */
export const TRACKING_EVENT_VERSION = 1;

/** Keeps events for days, even after they are stored, so that they can be replayed after a restore. */
export const TRACKING_STREAM = 'TRACKING_EVENTS';
/** The work queue of earlier releases: drained, then deleted, because the retention of a stream cannot be changed. */
export const FORMER_TRACKING_STREAM = 'TRACKING';
/** The durable consumer that the replicas of analytics-query share. */
export const TRACKING_CONSUMER = 'analytics-query';
/** The durable consumer that the replicas of events share. */
export const FEED_CONSUMER = 'events';
/** Each app publishes to `tracking.<app>`; the stream captures `tracking.>`. */
export const TRACKING_SUBJECTS = 'tracking.>';
export const trackingSubject = (app: string): string => `tracking.${app}`;
export const TRACKING_DEAD_STREAM = 'TRACKING_DEAD';
/**
 * Events that cannot be stored, with the reason in the header `Perkway-Reason` and their source in `Perkway-Source`.
 */
export const TRACKING_DEAD_SUBJECT = 'tracking-dead.events';
export const TRACKING_DEAD_SUBJECTS = 'tracking-dead.>';
/** The subject on which an operator publishes dead letters again. */
export const TRACKING_REPLAY_SUBJECT = trackingSubject('replay');
/** On dead letters and copies: the subject that the message was first published to. */
export const TRACKING_SOURCE_HEADER = 'Perkway-Source';

export type TrafficClass = 'human' | 'bot' | 'prefetch' | 'mail_proxy';
export interface Traffic {
  class: TrafficClass;
  /** A short, stable name of the rule, such as `user-agent:googlebot`. Never the user agent itself. */
  reason: string;
}

export type Channel = 'outreach' | 'journey';

interface EventHead {
  v: typeof TRACKING_EVENT_VERSION;
  /**
   * Unique within its account and time: events with the same (account, at, id) are duplicates. At most 64 characters.
   */
  id: string;
  account: string;
  /** When it happened, epoch milliseconds. */
  at: number;
}
/** `utm` and `cmeta` are absent when empty. */
interface Tagged {
  utm?: CustomAttributes['utm'];
  cmeta?: CustomAttributes['cmeta'];
}
interface Classified {
  traffic?: Traffic;
}

/**
 * One read of a collection (all perks shown, each once) or of one perk. Analytics counts a view per perk. Has `traffic`
 * if the read used a JOURNEY key.
 */
export interface PerkViewEvent extends EventHead, Tagged, Classified {
  type: 'perk_view';
  collection: string;
  perks: string[];
}
export interface PerkClickEvent extends EventHead, Tagged, Classified {
  type: 'perk_click';
  collection: string;
  perk: string;
  journey?: string;
}
/** `perk` is present only if the view was of one perk (`POST /track` with `perkId`). */
export interface CampaignViewEvent extends EventHead, Tagged, Classified {
  type: 'teaser_view' | 'reward_view';
  campaign: string;
  journey: string;
  channel: Channel;
  perk?: string;
}
export interface IncentiveClickEvent extends EventHead, Tagged, Classified {
  type: 'incentive_click';
  campaign: string;
  journey: string;
  channel: Channel;
  perk: string;
}
/** Has `traffic` if it was sent with a JOURNEY key, which is public. Conversions that servers report count as human. */
export interface ConversionEvent extends EventHead, Tagged, Classified {
  type: 'conversion';
  campaign: string;
  journey: string;
  perk?: string;
  value?: number;
  currency?: string;
  /**
   * Counts once per account, whatever the time; `id` is derived from it. Conversions with and without `traffic` are
   * counted separately.
   */
  externalId?: string;
}
/** The event id is `<link id>:<state>`: each state happens once per link. */
export interface RewardLinkEvent extends EventHead, Tagged {
  type: 'reward_link';
  state: 'generated' | 'revealed' | 'cancelled' | 'expired';
  pool: string;
  denomination: number;
  currency: string;
  createdBy: string;
  /** This and the next two are absent in events of earlier releases. */
  country?: string;
  /** Epoch milliseconds. */
  createdAt?: number;
  /** Epoch seconds. */
  expiresAt?: number;
  campaign?: string;
  journey?: string;
  reference?: string;
  /** The link that this one replaces. */
  replaces?: string;
}
/** A limit was used up, or refused a link, for the first time in its period. Only in the feed. */
export interface LimitReachedEvent extends EventHead {
  type: 'limit_reached';
  limit: string;
  /**
   * The value that the limit counts for, such as an account or pool. Missing if it is a journey or reference, which may
   * name a person.
   */
  value?: string;
  /** Epoch milliseconds. */
  periodStart: number;
  /** Epoch milliseconds; null if it never resets. */
  resetsAt: number | null;
}
/** A withdrawal of cards has looked at every card. Only in the feed. */
export interface CardsWithdrawnEvent extends EventHead {
  type: 'cards_withdrawn';
  withdrawal: string;
  pool: string;
  /** Cards withdrawn so far, links cancelled, and cards that had been revealed before. */
  withdrawn: number;
  cancelled: number;
  redeemed: number;
}
/** Names that the analytics views show next to ids. The highest `at` wins. `account` is the owner, or '' for perks. */
export interface PerkNamedEvent extends EventHead {
  type: 'perk_named';
  perk: string;
  title: string;
  partner: string;
}
export interface CampaignNamedEvent extends EventHead {
  type: 'campaign_named';
  campaign: string;
  name: string;
}

/** docs/extending.md lists what a new type needs; the compiler finds only a part of it. */
export type TrackingEvent =
  | PerkViewEvent
  | PerkClickEvent
  | CampaignViewEvent
  | IncentiveClickEvent
  | ConversionEvent
  | RewardLinkEvent
  | LimitReachedEvent
  | CardsWithdrawnEvent
  | PerkNamedEvent
  | CampaignNamedEvent;
export type TrackingEventType = TrackingEvent['type'];

/** Types without rows in the table of events: names have a table of their own, the other two are only in the feed. */
const TYPES_WITHOUT_ROWS = ['perk_named', 'campaign_named', 'limit_reached', 'cards_withdrawn'] as const;

/** An event that has a row in the table of events. */
export type StoredEvent = Exclude<TrackingEvent, { type: (typeof TYPES_WITHOUT_ROWS)[number] }>;

export const isStored = (event: TrackingEvent): event is StoredEvent =>
  !(TYPES_WITHOUT_ROWS as readonly TrackingEventType[]).includes(event.type);

/** The only app that publishes events of each type. */
const OWNERS: Record<TrackingEventType, AppName> = {
  perk_view: 'perks',
  perk_named: 'perks',
  perk_click: 'links',
  teaser_view: 'boost',
  reward_view: 'boost',
  incentive_click: 'boost',
  conversion: 'boost',
  campaign_named: 'boost',
  reward_link: 'gift-cards',
  limit_reached: 'gift-cards',
  cards_withdrawn: 'gift-cards',
};

/** Returns the only subject that may carry events of this type. */
export const subjectOf = (type: TrackingEventType): string => trackingSubject(OWNERS[type]);

/** Subjects of copies. Only analytics-query and the operator may publish to them. */
const COPY_SUBJECTS = [trackingSubject('analytics-query'), TRACKING_REPLAY_SUBJECT];

/** Returns the subject that a message was first published to. Only copies may name a subject other than their own. */
export const sourceOf = (subject: string, sourceHeader?: string): string =>
  (COPY_SUBJECTS.includes(subject) && sourceHeader) || subject;

/**
 * Returns whether a message from this source may carry events of this type. Every consumer of the stream checks it, so
 * that a compromised app cannot forge events of another. Copies by earlier releases do not name their source, so they
 * may carry every type.
 */
export const mayCarry = (source: string, type: TrackingEventType): boolean =>
  source === subjectOf(type) || COPY_SUBJECTS.includes(source);

/** The body of one message in the stream. Several events may share a message and its acknowledgement. */
export interface TrackingMessage {
  events: TrackingEvent[];
}
