/**
 * Returns the start of the oldest month that is kept (UTC, epoch milliseconds); -Infinity if all are. Queries exclude
 * older events, whether or not they have been dropped yet.
 * @param months whole months kept besides the current one; 0 for all
 */
export function keptFrom(months: number, now: number): number {
  if (months === 0) return -Infinity;
  const at = new Date(now);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - months, 1);
}
