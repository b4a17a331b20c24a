/**
 * The start of the oldest month that is kept (UTC, epoch milliseconds); -Infinity when all are. What is older is in no
 * answer from that moment on, whether or not it has been dropped yet.
 * @param months whole months beside the current one; 0 for all
 */
export function keptFrom(months: number, now: number): number {
  if (months === 0) return -Infinity;
  const at = new Date(now);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - months, 1);
}
