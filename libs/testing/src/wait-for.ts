import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until the condition holds: it answers anything but false and throws nothing, so that expectations are
 * conditions too.
 *
 * @param what is waited for, in words that complete "… did not come"
 * @throws with those words and the last failure of the condition, after `deadlineMs`
 */
export async function waitFor(
  condition: () => boolean | void | Promise<boolean | void>,
  what: string,
  deadlineMs = 10_000,
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
    throw new Error(`${what} did not come within ${deadlineMs} ms${because}`, { cause: failure });
  }
}
