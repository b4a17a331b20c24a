import type { FeedEvent, TrackingEvent } from '@perkway/domain';

const REWARD_LINK_STATES = {
  generated: 'RESERVED',
  revealed: 'REVEALED',
  cancelled: 'EXPIRED',
  expired: 'EXPIRED',
} as const;

const JOURNEY_TYPES = {
  teaser_view: 'teaser.viewed',
  reward_view: 'reward.viewed',
  incentive_click: 'incentive.clicked',
} as const;

type Mapped = Pick<FeedEvent, 'type' | 'subject' | 'data'>;

/** Returns an event as the feed stores it, where JSON leaves undefined members out; undefined for types that are not in the feed. */
export function toFeedEvent(event: TrackingEvent): FeedEvent | undefined {
  const mapped = map(event);
  if (!mapped) return undefined;
  return { id: event.id, occurred_at: toTime(event.at), ...mapped };
}

function map(event: TrackingEvent): Mapped | undefined {
  switch (event.type) {
    case 'perk_click':
      return {
        type: 'perk.clicked',
        subject: `perk/${event.perk}`,
        data: {
          perk_id: event.perk,
          collection_id: event.collection,
          journey_id: event.journey,
          ...traffic(event),
          ...tags(event),
        },
      };
    case 'teaser_view':
    case 'reward_view':
    case 'incentive_click':
      return {
        type: JOURNEY_TYPES[event.type],
        subject: `journey/${event.journey}`,
        data: { ...journey(event), channel: event.channel, ...traffic(event), ...tags(event) },
      };
    case 'conversion':
      return {
        type: 'conversion.recorded',
        subject: `journey/${event.journey}`,
        data: {
          ...journey(event),
          value: event.value,
          currency: event.currency,
          external_id: event.externalId,
          ...traffic(event),
          ...tags(event),
        },
      };
    case 'reward_link': {
      // The id of the event is `<link>:<state>`.
      const link = event.id.slice(0, event.id.lastIndexOf(':'));
      const at = toTime(event.at);
      return {
        type: `reward_link.${event.state}`,
        subject: `reward_link/${link}`,
        data: {
          id: link,
          pool_id: event.pool,
          state: REWARD_LINK_STATES[event.state],
          denomination: event.denomination,
          currency: event.currency,
          country: event.country,
          created_by: event.createdBy,
          created_at: event.createdAt === undefined ? undefined : toTime(event.createdAt),
          expires_at: event.expiresAt,
          revealed_at: event.state === 'revealed' ? at : null,
          cancelled_at: event.state === 'cancelled' ? at : null,
          campaign_id: event.campaign ?? null,
          journey_id: event.journey ?? null,
          reference: event.reference ?? null,
          replaces: event.replaces ?? null,
          // Only a link that was revealed or has ended is replaced, so no event of a link can name its replacement.
          replaced_by: null,
          ...tags(event),
        },
      };
    }
    case 'limit_reached':
      return {
        type: 'limit.reached',
        subject: `limit/${event.limit}`,
        data: {
          limit_id: event.limit,
          ...(event.value !== undefined && { value: event.value }),
          period_start: toTime(event.periodStart),
          resets_at: event.resetsAt === null ? null : toTime(event.resetsAt),
        },
      };
    case 'cards_withdrawn':
      return {
        type: 'cards.withdrawn',
        subject: `pool/${event.pool}`,
        data: {
          withdrawal_id: event.withdrawal,
          pool_id: event.pool,
          withdrawn: event.withdrawn,
          cancelled: event.cancelled,
          redeemed: event.redeemed,
        },
      };
    default:
      return undefined;
  }
}

const toTime = (ms: number) => new Date(ms).toISOString();
const journey = ({ campaign, journey, perk }: { campaign: string; journey: string; perk?: string }) => ({
  campaign_id: campaign,
  journey_id: journey,
  perk_id: perk,
});
const traffic = (event: { traffic?: { class: string } }) => ({ traffic_class: event.traffic?.class });
const tags = ({ utm, cmeta }: { utm?: object; cmeta?: object }) => ({ utm, cmeta });
