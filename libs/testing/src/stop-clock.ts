/**
 * Stops `Date.now()` at the start of the present second, so that a busy machine cannot move a test into the next one;
 * `advance` moves it. `jest.restoreAllMocks()` starts it again.
 */
export function stopClock(): { advance: (ms: number) => void } {
  let now = Math.floor(Date.now() / 1_000) * 1_000;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  return { advance: (ms) => void (now += ms) };
}

/**
 * Sets `Date.now()` ahead to the start of the next minute, when limits per minute reset. `jest.restoreAllMocks()` sets it
 * back.
 */
export function skipToNextMinute(): void {
  const now = Date.now;
  const aheadMs = 60_000 - (now() % 60_000);
  jest.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
}
