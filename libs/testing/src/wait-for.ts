import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MS = 10;
/** Pauses grow, because conditions that take long would otherwise take processor time from other test files. */
const LONGEST_PAUSE_MS = 50;

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
  const deadline = Date.now() + deadlineMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(1.2 * pauseMs, LONGEST_PAUSE_MS)) {
    let failure: unknown;
    try {
      if ((await condition()) !== false) return;
    } catch (error) {
      failure = error;
    }
    if (Date.now() >= deadline) {
      const because = failure instanceof Error ? `: ${failure.message}` : '';
      throw new Error(`Timed out after ${deadlineMs} ms waiting for ${what}${because}`, { cause: failure });
    }
    await sleep(pauseMs);
  }
}

/** Repeats a request while the response is 503, as clients do: on a busy machine some wait too long for a connection. */
export async function untilServed<R extends { status: number }>(send: () => PromiseLike<R>): Promise<R> {
  let response: R | undefined;
  await waitFor(async () => (response = await send()).status !== 503, 'a response other than 503');
  return response!;
}
