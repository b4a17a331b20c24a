/** What was on its way while everything was gone through is found the next time. */
export const LAST_ROUND = 2;
/** After this time nothing is on its way but what waits in an outbox, and is caught where it arrives. */
export const BETWEEN_ROUNDS = '5 seconds';
