import { slugOf } from '@perkway/domain/slug';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { download, sendRequest } from '../api/http';
import { JOBS_KEY, jobTitle, linkCountsOf } from '../api/link-jobs';
import { refreshGiftCards } from '../api/stock';
import type { CancelledLinks, LinkJob, LinkStates } from '../api/types';
import { formatMoney, formatNumber, formatShare } from '../format';
import { Confirm } from '../parts/dialog';
import { Icon } from '../parts/icon';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { texts } from '../texts';

const t = texts.giftCards;
const STATES = Object.keys(t.linkStates) as (keyof LinkStates)[];

interface CountsProps {
  job: LinkJob;
  /** Whether they are shown before the user opens them. */
  startsOpen?: boolean;
}

/** Counts the links of a job by state, and cancels those that nobody has opened. */
export function LinkCounts({ job, startsOpen = false }: CountsProps) {
  const client = useQueryClient();
  const { say, attempt } = useNotices();
  const [isOpen, setOpen] = useState(startsOpen);
  const [isCancelling, setCancelling] = useState(false);
  const path = `/api/link-jobs/${job.id}`;
  const live = useLiveInterval();
  const states = useQuery({
    ...linkCountsOf(job),
    ...live,
    placeholderData: (before: LinkStates | undefined) => before,
    enabled: isOpen,
  });
  const waiting = states.data?.waiting ?? 0;
  /** Each call cancels the next rows, so that none takes long; one that fails may be repeated. */
  const cancel = async () => {
    let cancelled = 0;
    for (let after: number | null = 0; after !== null;) {
      const { body }: { body: CancelledLinks } = await sendRequest(`${path}/cancel`, {
        method: 'POST',
        body: { after },
      });
      cancelled += body.cancelled;
      after = body.next;
    }
    say(t.cancelledRest(formatNumber(cancelled), cancelled === 1));
    void client.invalidateQueries({ queryKey: JOBS_KEY });
    void refreshGiftCards(client);
  };
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t.became}</summary>
      {isOpen && (
        <div className="stack">
          <Loaded query={states} lines={2}>
            {(counts) => (
              <dl className="facts">
                {STATES.map((state) => (
                  <div key={state} data-links={state}>
                    <dt>{t.linkStates[state]}</dt>
                    <dd>
                      <LinkCount job={job} state={state} count={counts[state]} />{' '}
                      <span className="hint">
                        {formatShare(counts[state], job.made)},{' '}
                        {formatMoney(counts[state] * job.denomination, job.currency)}
                      </span>
                    </dd>
                  </div>
                ))}
              </dl>
            )}
          </Loaded>
          <div className="actions">
            <button
              type="button"
              className="button small"
              onClick={() =>
                void attempt(download(`${path}/results`, `${slugOf(job.name ?? '') || 'links'}-results.csv`))
              }
            >
              <Icon name="download" /> {t.resultsCsv}
            </button>
            {waiting > 0 && (
              <button type="button" className="button danger small" onClick={() => setCancelling(true)}>
                {t.cancelRest}
              </button>
            )}
          </div>
          <p className="hint">{t.becameNote}</p>
        </div>
      )}
      <Confirm
        title={t.cancelRestTitle}
        text={t.cancelRestText(
          formatNumber(waiting),
          formatMoney(waiting * job.denomination, job.currency),
          waiting === 1,
        )}
        action={t.cancelRestNow}
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        onConfirm={cancel}
      />
    </details>
  );
}

interface CountProps {
  job: LinkJob;
  state: keyof LinkStates;
  count: number;
}

/** Shows how many links of a job are in a state, and links to their list. */
export const LinkCount = ({ job, state, count }: CountProps) =>
  count === 0 ? (
    formatNumber(count)
  ) : (
    <Link
      to={`/gift-cards/jobs/${job.id}?state=${state}`}
      aria-label={t.linksInState(formatNumber(count), t.linkStates[state], jobTitle(job))}
    >
      {formatNumber(count)}
    </Link>
  );
