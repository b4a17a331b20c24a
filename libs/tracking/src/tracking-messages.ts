/** The messages in which events travel to the stream: `{"events": [...]}`, each event as its JSON text. */
export const EVENTS_PER_MESSAGE = 1_000;
/** UTF-16 units, at most 3 bytes each: stays under the broker's max_payload of 1 MB. */
export const CHARACTERS_PER_MESSAGE = 250_000;
const MAX_EVENT_BYTES = 900_000;

export const toMessage = (events: readonly string[]): Buffer =>
  Buffer.from(`{"events":[${events.join(',')}]}`);

/** Proves that the stream takes messages; its consumer stores nothing of it. */
export const NO_EVENTS = toMessage([]);

/** True if a message with this event alone is one that the broker takes. */
export const isSendable = (event: string): boolean =>
  event.length < CHARACTERS_PER_MESSAGE || Buffer.byteLength(event) <= MAX_EVENT_BYTES;

/** Splits events, in their order, into groups that fit one message each. */
export function splitIntoMessages(events: readonly string[]): string[][] {
  const messages: string[][] = [];
  let characters = Infinity;
  for (const event of events) {
    if (characters + event.length > CHARACTERS_PER_MESSAGE) {
      messages.push([]);
      characters = 0;
    }
    messages.at(-1)!.push(event);
    characters += event.length;
  }
  return messages;
}
