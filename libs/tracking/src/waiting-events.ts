import { CHARACTERS_PER_MESSAGE, EVENTS_PER_MESSAGE } from './tracking-messages.js';

/** Events that share one message and one promise. */
export interface Batch {
  events: string[];
  characters: number;
  durable: Promise<void>;
  settle: () => void;
}

const newBatch = (): Batch => {
  let settle!: () => void;
  const durable = new Promise<void>((resolve) => (settle = resolve));
  return { events: [], characters: 0, durable, settle };
};

/** Events to be sent, in order of arrival, in batches as large as a message may be. */
export class WaitingEvents {
  private readonly batches: Batch[] = [];

  get isEmpty(): boolean {
    return this.batches.length === 0;
  }

  /** @returns the promise of the event's batch */
  add(event: string): Promise<void> {
    let batch = this.batches.at(-1);
    const isFull =
      batch !== undefined &&
      (batch.events.length >= EVENTS_PER_MESSAGE || batch.characters + event.length > CHARACTERS_PER_MESSAGE);
    if (!batch || isFull) {
      batch = newBatch();
      this.batches.push(batch);
    }
    batch.events.push(event);
    batch.characters += event.length;
    return batch.durable;
  }

  takeBatch(): Batch | undefined {
    return this.batches.shift();
  }
}
