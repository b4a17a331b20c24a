import { useQuery } from '@tanstack/react-query';
import { resetOf, shortLimits, usedOf } from '../api/limits';
import type { LinkJob } from '../api/types';
import { texts } from '../texts';

/** Names the limits that ended a job, with what is used of them and when they reset. */
export function ReachedLimits({ job }: { job: LinkJob }) {
  const reached = useQuery({
    queryKey: ['limits', 'reached', job.id],
    queryFn: ({ signal }) => shortLimits(job, 1, signal),
  });
  return reached.data?.map((usage) => (
    <p key={usage.id} className="hint">
      {texts.limits.reached(usage.id, usedOf(usage))} {resetOf(usage)}
    </p>
  ));
}
