import {
  isOfSubject,
  isRecord,
  MAX_JOURNEY_ID_LENGTH,
  withoutPerson,
  type Erasure,
  type TrackingEvent,
} from '@perkway/domain';

type EventLike = Record<string, unknown>;

type MemberOf<Event> = Event extends unknown ? keyof Event & string : never;
/**
 * Expected members of events: one value, or an array or object of values. Any other member is removed if it names an
 * erased person.
 */
const MEMBERS: Record<MemberOf<TrackingEvent>, 'value' | 'texts'> = {
  ...{ v: 'value', id: 'value', account: 'value', at: 'value', type: 'value' },
  ...{
    collection: 'value',
    perk: 'value',
    perks: 'texts',
    journey: 'value',
    campaign: 'value',
    channel: 'value',
  },
  ...{
    utm: 'texts',
    cmeta: 'texts',
    traffic: 'texts',
    value: 'value',
    currency: 'value',
    externalId: 'value',
  },
  ...{ state: 'value', pool: 'value', denomination: 'value', createdBy: 'value', reference: 'value' },
  ...{ country: 'value', createdAt: 'value', expiresAt: 'value', replaces: 'value' },
  ...{ limit: 'value', periodStart: 'value', resetsAt: 'value' },
  ...{ withdrawal: 'value', withdrawn: 'value', cancelled: 'value', redeemed: 'value' },
  ...{ title: 'value', partner: 'value', name: 'value' },
};
const isValue = (value: unknown): boolean => typeof value !== 'object' || value === null;
function isExpected(name: string, value: unknown): boolean {
  if (!Object.hasOwn(MEMBERS, name)) return false;
  if (isValue(value)) return true;
  return MEMBERS[name as keyof typeof MEMBERS] === 'texts' && Object.values(value as object).every(isValue);
}

/** Returns the value as it is, and as it appears inside a JSON string. */
const formsOf = (value: string): string[] => [value, JSON.stringify(value).slice(1, -1)];

const WORD = /[\p{L}\p{N}]/u;
/** Returns whether the text contains the value as whole words. */
function containsWord(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1))
    if (!WORD.test(text[at - 1] ?? ' ') && !WORD.test(text[at + value.length] ?? ' ')) return true;
  return false;
}
const isNamedIn = (text: string, { value }: Erasure): boolean =>
  formsOf(value).some((form) => containsWord(text, form));

/** Returns whether the event is about the erased person; also finds the person in a journey that is an object. */
const isOf = (event: EventLike, erasure: Erasure): boolean =>
  isOfSubject(event, erasure) ||
  (event.account === erasure.account &&
    typeof event.journey === 'object' &&
    isNamedIn(JSON.stringify(event.journey), erasure));

/**
 * Returns an event of any shape without the erased persons; the same object if it does not name them. A value that is
 * not an object becomes null if it names them.
 *
 * @throws RangeError if it is nested too deeply to be serialized
 */
export function eraseFromEvent(event: unknown, erasures: readonly Erasure[]): unknown {
  if (!isRecord(event))
    return erasures.some((erasure) => isNamedIn(JSON.stringify(event), erasure)) ? null : event;
  return erasures.reduce<EventLike>((before, erasure) => {
    const each = isOf(before, erasure) ? withoutPerson(before, erasure) : before;
    if (typeof each.account === 'string' && each.account !== erasure.account) return each;
    const members = Object.entries(each);
    const kept = members.filter(
      ([name, value]) => isExpected(name, value) || !isNamedIn(JSON.stringify({ [name]: value }), erasure),
    );
    return kept.length === members.length ? each : Object.fromEntries(kept);
  }, event);
}

/**
 * Returns a message of the streams without the erased persons.
 *
 * @returns undefined if it does not name them, null if it cannot be parsed and names one
 */
export function eraseFromMessage(data: Uint8Array, erasures: readonly Erasure[]): string | null | undefined {
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();
  const named = erasures.filter(({ value }) => formsOf(value).some((form) => text.includes(form)));
  if (named.length === 0) return undefined;
  try {
    const { events, ...more } = JSON.parse(text) as { events: unknown[] };
    const left = events.map((event) => eraseFromEvent(event, named));
    const isChanged =
      left.some((event, index) => event !== events[index]) ||
      named.some((erasure) => isNamedIn(JSON.stringify(more), erasure));
    return isChanged ? JSON.stringify({ events: left }) : undefined;
  } catch {
    // The text is not JSON, has no array of events, or is nested too deeply.
    return named.some((erasure) => isNamedIn(text, erasure)) ? null : undefined;
  }
}

/** A journey has at most 255 characters, each of one or two UTF-16 units. */
const MAX_TEXT = 2 * MAX_JOURNEY_ID_LENGTH;
/** Maximum number of strings of one event that are looked up. */
const MAX_TEXTS = 1_000;

/** Returns the strings in an event of any shape, outer before inner ones; any of them may be a journey. */
export function stringsIn(event: unknown): string[] {
  const texts = new Set<string>();
  const parts = [event];
  for (const part of parts) {
    if (texts.size >= MAX_TEXTS) break;
    if (typeof part === 'string' && part.length <= MAX_TEXT) texts.add(part);
    else if (typeof part === 'object' && part !== null)
      for (const [name, value] of Object.entries(part)) parts.push(name, value);
  }
  return [...texts];
}
