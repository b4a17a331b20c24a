import { setTimeout as sleep } from 'node:timers/promises';

const MINUTE_MS = 60_000;

/** Limits forget as the next minute of the clock goes on: waits for it where this one ends in less than `neededMs`. */
export async function untilEarlyInAMinute(neededMs = 15_000): Promise<void> {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (leftMs < neededMs) await sleep(leftMs);
}
