import type { CustomAttributes } from './custom-attributes.js';

/** Raised when an event's shape changes so that an older reader would misread it. */
export const TRACKING_EVENT_VERSION = 1;

/** Keeps every event for days, also those that are stored: it can be replayed after a restore. */
export const TRACKING_STREAM = 'TRACKING_EVENTS';
/** The work queue of earlier releases, whose retention cannot be changed: drained, then deleted. */
export const FORMER_TRACKING_STREAM = 'TRACKING';
/** The durable consumer: all replicas of analytics-query share it. */
export const TRACKING_CONSUMER = 'analytics-query';
/** Each app publishes to `tracking.<app>`; the stream captures `tracking.>`. */
export const TRACKING_SUBJECTS = 'tracking.>';
export const trackingSubject = (app: string): string => `tracking.${app}`;
export const TRACKING_DEAD_STREAM = 'TRACKING_DEAD';
/** Events that cannot be stored, with the reason in the header `Perkway-Reason`. */
export const TRACKING_DEAD_SUBJECT = 'tracking-dead.events';
export const TRACKING_DEAD_SUBJECTS = 'tracking-dead.>';

export type TrafficClass = 'human' | 'bot' | 'prefetch' | 'mail_proxy';
export interface Traffic {
  class: TrafficClass;
  /** A short stable text that names the rule, such as `user-agent:googlebot`. Never the user agent itself. */
  reason: string;
}

export type Channel = 'outreach' | 'journey';

interface EventHead {
  v: typeof TRACKING_EVENT_VERSION;
  /** Unique within its account and time; a second arrival of the same (account, at, id) is the same event. At most 64 characters. */
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

/** One read: of a collection (all its perks shown, each once) or of one perk. Analytics counts a view per perk. */
export interface PerkViewEvent extends EventHead, Tagged {
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
/** `perk` is present only where the view was of one perk (`POST /track` with `perkId`). */
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
export interface ConversionEvent extends EventHead, Tagged {
  type: 'conversion';
  campaign: string;
  journey: string;
  perk?: string;
  value?: number;
  currency?: string;
  /** Counted once per account, whatever the time. */
  externalId?: string;
}
/** The id is that of the link and the state, `<id>:<state>`: each happens to a link once. */
export interface RewardLinkEvent extends EventHead, Tagged {
  type: 'reward_link';
  state: 'generated' | 'revealed' | 'cancelled' | 'expired';
  pool: string;
  denomination: number;
  currency: string;
  createdBy: string;
  campaign?: string;
  journey?: string;
  reference?: string;
}
/** Names that the analytics views show beside ids. The row with the highest `at` wins. `account` is the owner, or '' for perks. */
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

export type TrackingEvent =
  | PerkViewEvent
  | PerkClickEvent
  | CampaignViewEvent
  | IncentiveClickEvent
  | ConversionEvent
  | RewardLinkEvent
  | PerkNamedEvent
  | CampaignNamedEvent;
export type TrackingEventType = TrackingEvent['type'];

/** The body of one message in the stream: several events may share a message and its acknowledgement. */
export interface TrackingMessage {
  events: TrackingEvent[];
}
