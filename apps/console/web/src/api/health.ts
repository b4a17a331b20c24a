import { useQuery } from '@tanstack/react-query';
import { healthFindings, type Finding } from '../health-findings';
import { useLiveInterval } from '../parts/live';
import { get } from './http';
import type { Health } from './types';

const ORDER = { down: 0, degraded: 1, up: 2 };

/** When this window first saw each problem of which the response does not say when it began. */
let seen = new Map<string, string>();
/** After a longer time without a check, a problem may be a new one. */
const MAX_GAP_MS = 60_000;
let checkedAt = 0;

function withFirstSeen(findings: Finding[], checked_at: string): Finding[] {
  const now = Date.parse(checked_at);
  const before = now - checkedAt > MAX_GAP_MS ? undefined : seen;
  checkedAt = now;
  seen = new Map();
  return findings.map((finding) => {
    if (!finding.isFirstSeen) return finding;
    const problem = `${finding.what} ${finding.where}`;
    const since = before?.get(problem) ?? checked_at;
    seen.set(problem, since);
    return { ...finding, since };
  });
}

async function readHealth(signal: AbortSignal) {
  const health = await get<Health>('/api/health', undefined, signal);
  health.apps.sort((one, other) => ORDER[one.state] - ORDER[other.state]);
  return { ...health, findings: withFirstSeen(healthFindings(health), health.checked_at) };
}

/** Returns the health of the fleet and its problems. Apps that are down come first. */
export const useHealth = () =>
  useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => readHealth(signal),
    ...useLiveInterval(),
  });
