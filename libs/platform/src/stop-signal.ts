/** In place of whatever the entry of the bundle did until now. Process 1 has no default action for signals. */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const before = process.listeners(signal);
    // First, so that there is a listener at every moment: without one a signal that has come meanwhile would be lost.
    process.on(signal, stop);
    for (const listener of before) process.off(signal, listener);
  }
}
