/** Limits of the messages that carry events to the stream: `{"events": [...]}`, each event in JSON. */
export const EVENTS_PER_MESSAGE = 1_000;
/** UTF-16 units, at most 3 bytes each: stays below the broker's max_payload of 1 MB. */
export const CHARACTERS_PER_MESSAGE = 250_000;
const MAX_EVENT_BYTES = 900_000;

export const toMessage = (events: readonly string[]): Buffer =>
  Buffer.from(`{"events":[${events.join(',')}]}`);

/** A message that tests whether the stream accepts messages. Ingest stores nothing from it. */
export const NO_EVENTS = toMessage([]);

/** Returns true if the broker takes a message with only this event. */
export const isSendable = (event: string): boolean =>
  event.length < CHARACTERS_PER_MESSAGE || Buffer.byteLength(event) <= MAX_EVENT_BYTES;

/** Splits events, in order, into groups that fit into one message each. */
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
