import { Link, useParams } from 'react-router';
import { ApiError } from '../api/http';
import { jobDetails, jobTitle, useLinkJob, useLinksOfJob } from '../api/link-jobs';
import { pathOfLink } from '../api/reward-links';
import type { LinkOfJob } from '../api/types';
import { formatMoment } from '../format';
import { SelectField } from '../parts/fields';
import { Empty, Loaded } from '../parts/loaded';
import { Pages } from '../parts/pages';
import { Card, Screen } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { LinkCounts } from './link-counts';
import NotFound from './not-found';

const t = texts.giftCards;
const TONES: Record<LinkOfJob['state'], string> = {
  waiting: 'warn',
  opened: '',
  cancelled: 'plain',
  expired: 'plain',
};

const momentOf = (at: string | null) => (at === null ? texts.none : formatMoment(at));

/** Lists the links of a link job with their states. */
export default function LinkJobScreen() {
  const { jobId = '' } = useParams();
  const job = useLinkJob(jobId);
  if (job.error instanceof ApiError && job.error.status === 404) return <NotFound />;
  return (
    <Screen
      title={job.data ? jobTitle(job.data) : t.jobOf}
      intro={job.data?.name && jobDetails(job.data)}
      back={{ to: `/gift-cards#job-${jobId}`, label: texts.nav.giftCards }}
    >
      <Loaded query={job} lines={8}>
        {(found) => (
          <>
            {found.made > 0 && (
              <Card>
                <LinkCounts job={found} startsOpen />
              </Card>
            )}
            <LinkTable jobId={jobId} />
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function LinkTable({ jobId }: { jobId: string }) {
  const { valueOf, set } = useSearchFilters();
  const links = useLinksOfJob(jobId, valueOf('state'));
  return (
    <Card title={texts.nav.rewardLinks}>
      <div className="stack">
        <div className="form filters" role="search">
          <SelectField
            label={texts.rewardLinks.state}
            value={valueOf('state')}
            any={texts.rewardLinks.anyState}
            options={t.linkStates}
            onValue={(state) => set('state', state)}
          />
        </div>
        <Pages query={links} empty={<Empty title={texts.rewardLinks.emptyTitle} />}>
          {(rows) => (
            <Table
              caption={texts.nav.rewardLinks}
              rows={rows}
              keyOf={({ row }) => row}
              columns={[
                {
                  name: texts.rewardLinks.reference,
                  isHead: true,
                  cell: ({ reference, link_id }) => (
                    <Link to={pathOfLink(link_id)}>{reference ?? link_id.slice(0, 8)}</Link>
                  ),
                },
                {
                  name: texts.rewardLinks.state,
                  cell: ({ state, replaced_by }) => (
                    <>
                      <span className={`badge ${TONES[state]}`}>{t.linkStates[state]}</span>
                      {replaced_by !== null && (
                        <span className="hint">
                          {' '}
                          {texts.rewardLinks.timeline.replaced}{' '}
                          <Link to={pathOfLink(replaced_by)}>
                            {texts.rewardLinks.link(replaced_by.slice(0, 8))}
                          </Link>
                        </span>
                      )}
                    </>
                  ),
                },
                { name: t.linkStates.opened, cell: ({ opened_at }) => momentOf(opened_at) },
                { name: t.linkStates.cancelled, cell: ({ cancelled_at }) => momentOf(cancelled_at) },
              ]}
            />
          )}
        </Pages>
      </div>
    </Card>
  );
}
