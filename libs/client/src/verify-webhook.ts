import { createHmac, timingSafeEqual } from 'node:crypto';

interface Tagged {
  traffic_class?: string;
  utm?: Record<string, string>;
  cmeta?: Record<string, string>;
}
/** Members that name a person are missing once the person was erased. */
interface JourneyData extends Tagged {
  campaign_id: string;
  journey_id?: string;
  perk_id?: string;
  channel?: string;
}
interface RewardLinkData extends Tagged {
  id: string;
  pool_id: string;
  state: 'RESERVED' | 'REVEALED' | 'EXPIRED';
  denomination?: number;
  currency?: string;
  country?: string;
  created_by?: string;
  created_at?: string;
  expires_at?: number;
  revealed_at: string | null;
  cancelled_at: string | null;
  campaign_id: string | null;
  journey_id?: string | null;
  reference?: string | null;
  /** Missing in events of earlier releases. */
  replaces?: string | null;
  replaced_by?: null;
}
interface StockData {
  alert_id: string;
  pool_id: string;
  denomination: number;
  currency: string;
  country: string;
  available: number;
}

/** The `data` of each type of event: one for each of `EVENT_TYPES` in libs/domain, which this package cannot import. */
export interface EventData {
  'perk.clicked': Tagged & { perk_id: string; collection_id: string; journey_id?: string };
  'teaser.viewed': JourneyData;
  'reward.viewed': JourneyData;
  'incentive.clicked': JourneyData;
  'conversion.recorded': JourneyData & { value?: number; currency?: string; external_id?: string };
  'reward_link.generated': RewardLinkData;
  'reward_link.revealed': RewardLinkData;
  'reward_link.cancelled': RewardLinkData;
  'reward_link.expired': RewardLinkData;
  'pool.low': StockData;
  'pool.recovered': StockData;
  'limit.reached': { limit_id: string; value?: string; period_start: string; resets_at: string | null };
  'cards.withdrawn': {
    withdrawal_id: string;
    pool_id: string;
    withdrawn: number;
    cancelled: number;
    redeemed: number;
  };
  'webhook.ping': { webhook_id: string };
}

interface EventOf<Type extends keyof EventData> {
  /** The same in every delivery of the event; use it to ignore repeated deliveries. */
  id: string;
  type: Type;
  /** ISO 8601, UTC. */
  occurred_at: string;
  /** `<kind>/<id>` of the object that the event is about. */
  subject: string;
  data: EventData[Type];
  /** Present if a person was erased from the event. */
  erased?: true;
}

/**
 * An event of the feed, as in `listEvents` and webhooks. `type` tells which `data` it has; a newer service may add
 * types.
 */
export type WebhookEvent = { [Type in keyof EventData]: EventOf<Type> }[keyof EventData];

/** Request headers: of `node:http`, of Fetch, or a plain object. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** Thrown if the request is not a delivery that was recently signed with the secret. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

const PREFIX = 'whsec_';
const TOLERANCE_S = 5 * 60;

/**
 * Verifies a delivery (Standard Webhooks) and returns its event.
 *
 * @param body as received, before parsing
 * @param secret of the webhook; an array during a rotation
 * @throws WebhookVerificationError
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
): WebhookEvent {
  const header = readerOf(headers);
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(header);
  if (!id || !timestamp || !signatures)
    throw new WebhookVerificationError(
      'The headers webhook-id, webhook-timestamp or webhook-signature are missing',
    );
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1_000 - Number(timestamp)) > TOLERANCE_S)
    throw new WebhookVerificationError('`webhook-timestamp` is more than five minutes away from now');
  const text = typeof body === 'string' ? body : Buffer.from(body).toString();
  const given = signatures
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Buffer.from(signature.slice(3), 'base64'));
  const isSigned = [secret].flat().some((each) => {
    const key = Buffer.from(each.startsWith(PREFIX) ? each.slice(PREFIX.length) : each, 'base64');
    if (key.length === 0) throw new TypeError('`secret` is not a webhook secret');
    const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest();
    return given.some((bytes) => bytes.length === wanted.length && timingSafeEqual(bytes, wanted));
  });
  if (!isSigned) throw new WebhookVerificationError('No signature matches the body and the secret');
  return JSON.parse(text) as WebhookEvent;
}

function readerOf(headers: WebhookHeaders): (name: string) => string | undefined {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined;
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => [byName.get(name)].flat()[0];
}
