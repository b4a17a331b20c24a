/** The second round catches data that was in transit during the first. */
export const ROUNDS = 2;
/**
 * After this pause, events are in transit only in outboxes, which every round erases, too. The event stores also change
 * late events of an erased journey when they arrive.
 */
export const BETWEEN_ROUNDS = '5 seconds';
