import {
  characters,
  isCallerId,
  isRecord,
  isStorableText,
  mayCarry,
  TRACKING_EVENT_VERSION,
  UTM_NAMES,
  type TrackingEvent,
  type TrackingEventType,
} from '@perkway/domain';

/** An event, or a whole message, that can never be stored, and why. The reason names fields, never their values. */
export interface RejectedEvent {
  content: { event: unknown } | { message: Uint8Array };
  reason: string;
  /** The subject it was first published to. */
  source: string;
}
export interface ReadMessage {
  events: TrackingEvent[];
  rejected: RejectedEvent[];
  /** An event has a version that only a newer release of this app can read. */
  hasUnknownVersion: boolean;
}

/** Returns the problem with a value, or null if it is valid. */
type Check = (value: unknown) => string | null;

const text =
  (max: number, min = 1): Check =>
  (value) => {
    if (typeof value !== 'string') return 'is not a string';
    if (!isStorableText(value)) return 'has a character that cannot be stored';
    // Counting characters costs more than UTF-16 units, of which there are at least as many.
    if (value.length < min || (value.length > max && characters(value) > max))
      return `must have ${min} to ${max} characters`;
    return null;
  };
const oneOf =
  (...allowed: string[]): Check =>
  (value) =>
    allowed.includes(value as string) ? null : `is not one of ${allowed.join(', ')}`;
const id: Check = (value) => (isCallerId(value) ? null : 'is not a valid id');
const number: Check = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? null : 'is not a number';
/** No event is older. */
const EARLIEST = Date.UTC(2020, 0, 1);
const timeFrom =
  (earliest: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= earliest && (value as number) < Date.UTC(10_000, 0, 1)
      ? null
      : 'is not a time in milliseconds';
const time = timeFrom(EARLIEST);

const MAX_PERKS = 100_000;
const perks: Check = (value) => {
  if (!Array.isArray(value) || value.length > MAX_PERKS) return 'is not an array of perk ids';
  return value.every(isCallerId) ? null : 'has an invalid perk id';
};

const traffic: Check = (value) => {
  if (!isRecord(value)) return 'is not an object';
  return oneOf('human', 'bot', 'prefetch', 'mail_proxy')(value.class) ?? text(255)(value.reason);
};

const attributeText = text(255, 0);
const utm: Check = (value) => {
  if (!isRecord(value)) return 'is not an object';
  for (const name in value) {
    if (!(UTM_NAMES as readonly string[]).includes(name)) return 'has an unknown name';
    const problem = attributeText(value[name]);
    if (problem) return problem;
  }
  return null;
};
const ATTRIBUTE_NAME = /^[A-Za-z0-9_-]+$/;
const cmeta: Check = (value) => {
  if (!isRecord(value)) return 'is not an object';
  for (const name in value) {
    if (!ATTRIBUTE_NAME.test(name)) return 'has a name with a character that is not allowed';
    const problem = attributeText(value[name]);
    if (problem) return problem;
  }
  return null;
};

interface Shape {
  required: [name: string, check: Check][];
  optional: [name: string, check: Check][];
}
/** As arrays of entries, because every event iterates over them. */
const shape = (required: Record<string, Check>, optional: Record<string, Check> = {}): Shape => ({
  required: Object.entries(required),
  optional: Object.entries(optional),
});
const TAGS = { utm, cmeta };
const journey = text(255);
const channel = oneOf('outreach', 'journey');
const currency = text(20);
const campaignView = shape({ campaign: id, journey, channel }, { perk: id, traffic, ...TAGS });

const SHAPES: Record<TrackingEventType, Shape> = {
  perk_view: shape({ collection: id, perks }, { traffic, ...TAGS }),
  perk_click: shape({ collection: id, perk: id }, { journey, traffic, ...TAGS }),
  teaser_view: campaignView,
  reward_view: campaignView,
  incentive_click: shape({ campaign: id, journey, channel, perk: id }, { traffic, ...TAGS }),
  conversion: shape(
    { campaign: id, journey },
    { perk: id, value: number, currency, externalId: text(255), traffic, ...TAGS },
  ),
  reward_link: shape(
    {
      state: oneOf('generated', 'revealed', 'cancelled', 'expired'),
      pool: text(100),
      denomination: number,
      currency,
      createdBy: text(255),
    },
    {
      country: text(20),
      createdAt: time,
      expiresAt: number,
      campaign: text(255),
      journey,
      reference: text(255),
      replaces: text(100),
      ...TAGS,
    },
  ),
  limit_reached: shape(
    { limit: id, periodStart: timeFrom(0), resetsAt: (value) => (value === null ? null : time(value)) },
    { value: text(255) },
  ),
  cards_withdrawn: shape({
    withdrawal: text(100),
    pool: text(100),
    withdrawn: number,
    cancelled: number,
    redeemed: number,
  }),
  perk_named: shape({ perk: id, title: text(10_000, 0), partner: text(1_000, 0) }),
  campaign_named: shape({ campaign: id, name: text(10_000, 0) }),
};

/** A clock further ahead than this is wrong. */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1000;

function problemOf(event: Record<string, unknown>, source: string, now: number): string | null {
  const { id: eventId, account, at, type } = event;
  const expected =
    typeof type === 'string' && Object.hasOwn(SHAPES, type) ? SHAPES[type as TrackingEventType] : null;
  if (!expected) return 'type is unknown';
  if (!mayCarry(source, type as TrackingEventType)) return 'type is not published by this app';
  const idProblem = text(64)(eventId);
  if (idProblem) return `id ${idProblem}`;
  if (!isCallerId(account) && !(type === 'perk_named' && account === '')) return 'account is not a valid id';
  if (!Number.isInteger(at)) return 'at is not a whole number of milliseconds';
  if ((at as number) < EARLIEST || (at as number) > now + MAX_AHEAD_MS)
    return 'at is before 2020 or more than a day ahead';
  for (const [name, check] of expected.required) {
    const problem = check(event[name]);
    if (problem) return `${name} ${problem}`;
  }
  for (const [name, check] of expected.optional) {
    if (event[name] === undefined) continue;
    const problem = check(event[name]);
    if (problem) return `${name} ${problem}`;
  }
  return null;
}

/** Returns the whole message if the event is nested too deeply to be serialized. */
function contentOf(event: unknown, message: Uint8Array): RejectedEvent['content'] {
  try {
    JSON.stringify(event);
    return { event };
  } catch {
    return { message };
  }
}

/**
 * Parses and validates one message of the stream. Never throws.
 *
 * @param source the subject it was first published to
 */
export function readMessage(data: Uint8Array, source: string, now: number): ReadMessage {
  const read: ReadMessage = { events: [], rejected: [], hasUnknownVersion: false };
  let body: unknown;
  try {
    body = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString());
  } catch {
    read.rejected.push({ content: { message: data }, reason: 'the message is not valid JSON', source });
    return read;
  }
  const events = isRecord(body) ? body.events : undefined;
  if (!Array.isArray(events)) {
    read.rejected.push({ content: { message: data }, reason: 'the message has no array of events', source });
    return read;
  }
  for (const event of events as unknown[]) {
    if (!isRecord(event)) {
      read.rejected.push({ content: contentOf(event, data), reason: 'the event is not an object', source });
      continue;
    }
    if (Number.isInteger(event.v) && (event.v as number) > TRACKING_EVENT_VERSION) {
      read.hasUnknownVersion = true;
      continue;
    }
    const problem =
      event.v === TRACKING_EVENT_VERSION ? problemOf(event, source, now) : 'v is not a valid version';
    if (problem) read.rejected.push({ content: contentOf(event, data), reason: problem, source });
    else read.events.push(event as unknown as TrackingEvent);
  }
  return read;
}
