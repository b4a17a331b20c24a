import { isOfSubject, isRecord, withoutPerson, type Erasure } from '@perkway/domain';

type EventLike = Record<string, unknown>;

/** Also where the journey has another shape than it should have. */
const isOf = (event: EventLike, erasure: Erasure): boolean =>
  isOfSubject(event, erasure) ||
  (event.account === erasure.account &&
    typeof event.journey === 'object' &&
    JSON.stringify(event.journey).includes(JSON.stringify(erasure.value)));

/** As it is, and as it stands in JSON. */
const formsOf = (value: string): string[] => [value, JSON.stringify(value).slice(1, -1)];

const WORD = /[\p{L}\p{N}]/u;
function standsIn(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1))
    if (!WORD.test(text[at - 1] ?? ' ') && !WORD.test(text[at + value.length] ?? ' ')) return true;
  return false;
}

/**
 * A message of the streams without the persons.
 *
 * @returns undefined where it has nothing of them, null where it cannot be read and names one
 */
export function eraseFromMessage(data: Uint8Array, erasures: readonly Erasure[]): string | null | undefined {
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();
  const named = erasures.filter(({ value }) => formsOf(value).some((form) => text.includes(form)));
  if (named.length === 0) return undefined;
  const events = eventsIn(text);
  if (!events)
    return named.some(({ value }) => formsOf(value).some((form) => standsIn(text, form))) ? null : undefined;
  let isChanged = false;
  const left = events.map((event) => {
    if (!isRecord(event)) return event;
    return named.reduce<EventLike>((each, erasure) => {
      if (!isOf(each, erasure)) return each;
      isChanged = true;
      return withoutPerson(each, erasure);
    }, event);
  });
  return isChanged ? JSON.stringify({ events: left }) : undefined;
}

function eventsIn(text: string): unknown[] | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) && Array.isArray(body.events) ? (body.events as unknown[]) : undefined;
  } catch {
    return undefined;
  }
}
