import { setTimeout as sleep } from 'node:timers/promises';

const MINUTE_MS = 60_000;

/** Limits reset at each clock minute. Waits for the next minute if less than `neededMs` of the current one is left. */
export async function untilEarlyInAMinute(neededMs = 15_000): Promise<void> {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (leftMs < neededMs) await sleep(leftMs);
}
