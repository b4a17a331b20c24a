import { useQuery } from '@tanstack/react-query';
import { useLiveInterval } from '../parts/live';
import { get } from './http';
import type { Health } from './types';

export const BROKER = 'broker';
const ORDER = { down: 0, degraded: 1, up: 2 };

/** When this window first saw a problem of each app or of the broker. The response does not say when a problem began. */
const seen = new Map<string, string>();
/** After a longer time without a check, a problem may be a new one. */
const MAX_GAP_MS = 60_000;
let checkedAt = 0;

async function readHealth(signal: AbortSignal) {
  const health = await get<Health>('/api/health', undefined, signal);
  const now = Date.parse(health.checked_at);
  if (now - checkedAt > MAX_GAP_MS) seen.clear();
  checkedAt = now;
  const note = (problem: string, isFound: boolean) => {
    if (!isFound) seen.delete(problem);
    else if (!seen.has(problem)) seen.set(problem, health.checked_at);
  };
  for (const { name, state, database } of health.apps) {
    note(`${name} down`, state === 'down');
    note(`${name} degraded`, state === 'degraded');
    note(`${name} database`, database === false);
  }
  note(BROKER, !health.broker.available);
  return {
    ...health,
    apps: health.apps.toSorted((one, other) => ORDER[one.state] - ORDER[other.state]),
    seen: Object.fromEntries(seen) as Readonly<Record<string, string>>,
  };
}
export type SeenHealth = Awaited<ReturnType<typeof readHealth>>;

/** Returns the health of the fleet: apps that are down come first, and `seen` has when this window first saw each problem. */
export const useHealth = () =>
  useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => readHealth(signal),
    ...useLiveInterval(),
  });
