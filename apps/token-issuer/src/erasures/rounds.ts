/** The second round catches data that was in transit during the first. */
export const ROUNDS = 2;
/** By then, nothing is in transit except in outboxes, and events from those are handled where they arrive. */
export const BETWEEN_ROUNDS = '5 seconds';
