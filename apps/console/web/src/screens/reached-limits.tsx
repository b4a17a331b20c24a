import { useQuery } from '@tanstack/react-query';
import { readUsage, usedOf, useLimits } from '../api/limits';
import type { Limit, LinkJob } from '../api/types';
import { formatMoment } from '../format';
import { texts } from '../texts';

const t = texts.limits;

/** Returns the value for which a limit counts the links of a job; undefined if there is none or it is unknown here. */
function valueFor({ per, only }: Limit, job: LinkJob): string | undefined {
  if (only?.pool_id && only.pool_id !== job.pool_id) return undefined;
  if (only?.campaign_id && only.campaign_id !== job.campaign_id) return undefined;
  if (per === 'account') return '';
  if (per === 'pool_id') return job.pool_id;
  if (per === 'campaign_id') return job.campaign_id ?? undefined;
  return per === 'created_by' ? `console: ${job.created_by}` : undefined;
}

/** Names the limits that ended a job, with what is used of them and when they reset. */
export function ReachedLimits({ job }: { job: LinkJob }) {
  const limits = useLimits();
  const reached = useQuery({
    queryKey: ['limits', 'reached', job.id, limits.data],
    enabled: limits.data !== undefined,
    queryFn: async ({ signal }) => {
      const usages = await Promise.all(
        limits.data!.map(async (limit) => {
          const value = valueFor(limit, job);
          return value === undefined
            ? null
            : { id: limit.id, ...(await readUsage(limit, true, value, signal)) };
        }),
      );
      return usages
        .filter((usage) => usage !== null)
        .filter(
          ({ links, amount }) =>
            (links && links.used >= links.limit) ||
            (amount?.currency === job.currency && amount.used + job.denomination > amount.limit),
        );
    },
  });
  return reached.data?.map((usage) => (
    <p key={usage.id} className="hint">
      {t.reached(usage.id, usedOf(usage))}{' '}
      {usage.resets_at === null ? t.neverResets : t.resetsAt(formatMoment(usage.resets_at))}
    </p>
  ));
}
