import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until the condition neither throws nor returns false, so expectations can be conditions.
 *
 * @param what is waited for, to complete "waiting for …"
 * @throws with `what` and the last failure of the condition after `deadlineMs`
 */
export async function waitFor(
  condition: () => boolean | void | Promise<boolean | void>,
  what: string,
  deadlineMs = 50_000,
): Promise<void> {
  for (const deadline = Date.now() + deadlineMs; ; await sleep(20)) {
    let failure: unknown;
    try {
      if ((await condition()) !== false) return;
    } catch (error) {
      failure = error;
    }
    if (Date.now() < deadline) continue;
    const because = failure instanceof Error ? `: ${failure.message}` : '';
    throw new Error(`Timed out after ${deadlineMs} ms waiting for ${what}${because}`, { cause: failure });
  }
}
