import { useQuery } from '@tanstack/react-query';
import { useLiveInterval } from '../parts/live';
import { get } from './http';
import type { Health } from './types';

export const BROKER = 'broker';
const ORDER = { down: 0, degraded: 1, up: 2 };

/** When this window first saw a problem of each app or of the broker. The response does not say when a problem began. */
const seen = new Map<string, string>();

async function readHealth(signal: AbortSignal) {
  const health = await get<Health>('/api/health', undefined, signal);
  const note = (name: string, isGood: boolean) => {
    if (isGood) seen.delete(name);
    else if (!seen.has(name)) seen.set(name, health.checked_at);
  };
  for (const { name, state, database } of health.apps) note(name, state === 'up' && database !== false);
  note(BROKER, health.broker.available);
  return {
    ...health,
    apps: health.apps.toSorted((one, other) => ORDER[one.state] - ORDER[other.state]),
    seen: Object.fromEntries(seen) as Readonly<Record<string, string>>,
  };
}
export type SeenHealth = Awaited<ReturnType<typeof readHealth>>;

/** The health of the fleet, with what is down first, and when this window first saw each problem of an app or the broker. */
export const useHealth = () =>
  useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => readHealth(signal),
    ...useLiveInterval(),
  });
