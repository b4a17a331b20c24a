/** Calls `stop` on SIGTERM and SIGINT. Replaces the listeners of rolldown.config.mjs, which only process 1 has. */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const before = process.listeners(signal);
    // Add the new listener first, so that no signal is lost in between.
    process.on(signal, stop);
    for (const listener of before) process.off(signal, listener);
  }
}
