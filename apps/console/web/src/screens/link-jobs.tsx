import { slugOf } from '@perkway/domain/slug';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link, useLocation } from 'react-router';
import { useCampaignNames } from '../api/campaigns';
import { sendRequest, download } from '../api/http';
import { jobDetails, jobTitle, JOBS_KEY, useLinkJobs } from '../api/link-jobs';
import { refreshGiftCards } from '../api/stock';
import type { LinkJob } from '../api/types';
import { formatMoney, formatNumber } from '../format';
import { fieldsOf } from '../mailing';
import { Icon } from '../parts/icon';
import { lazy } from '../parts/lazy';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { useScrollToHash } from '../scroll-to-hash';
import { texts } from '../texts';
import { Approval } from './approval';
import { LinkCounts } from './link-counts';
import { ReachedLimits } from './reached-limits';

const t = texts.giftCards;
const AddLinks = lazy(() => import('./add-links'), null);
const BADGES: Record<LinkJob['state'], string> = {
  awaiting_approval: 'warn',
  rejected: 'bad',
  lapsed: 'bad',
  running: 'warn',
  stopped: 'warn',
  done: '',
  failed: 'bad',
};

/** Lists the jobs of the account, whichever window started them. */
export function LinkJobs() {
  const client = useQueryClient();
  const { attempt } = useNotices();
  const jobs = useLinkJobs();
  const nameOf = useCampaignNames();
  const { search } = useLocation();
  const { valueOf } = useSearchFilters();
  /** Step 5 of Send, with the fields of the job's mailing, and the others of that screen if the user came from it. */
  const testOf = (campaignId: string, { attributes }: LinkJob) =>
    `/campaigns/${encodeURIComponent(campaignId)}/send?${fieldsOf(attributes, valueOf('send') === campaignId ? search : '')}#test`;
  const [adding, setAdding] = useState<LinkJob | null>(null);
  const waiting = jobs.data?.filter(({ state }) => state === 'awaiting_approval').length ?? 0;
  const made = jobs.data?.reduce((sum, job) => sum + job.made, 0);
  // Jobs use up stock, so refresh the figures above.
  useEffect(() => {
    if (made === undefined) return;
    void refreshGiftCards(client);
  }, [client, made]);
  useScrollToHash(jobs.data !== undefined, 'center');
  const act = (action: Promise<unknown>) =>
    attempt(action.then(() => client.invalidateQueries({ queryKey: JOBS_KEY })));

  return (
    <Card
      id="link-jobs"
      title={t.jobs}
      note={t.jobsNote}
      actions={waiting > 0 && <span className="badge warn">{t.waitingJobs(waiting)}</span>}
    >
      <Loaded query={jobs} isEmpty={(list) => list.length === 0} empty={<p>{t.noJobs}</p>}>
        {(list) => (
          <div className="stack">
            <p className="hint">
              {t.jobsNext} <Link to="/documentation/link-jobs#3-send-the-links">{t.howToSend}</Link>
            </p>
            <ul className="stack">
              {list.map((job) => (
                <li key={job.id} id={`job-${job.id}`} className="progress" data-job={job.state}>
                  <div className="card-head">
                    <span>
                      <Link to={`/gift-cards/jobs/${job.id}`}>{jobTitle(job)}</Link>{' '}
                      <span className={`badge ${BADGES[job.state]}`}>{t.states[job.state]}</span>
                    </span>
                    <span className="actions">
                      {job.state === 'running' && (
                        <button
                          type="button"
                          className="button small"
                          onClick={() =>
                            void act(sendRequest(`/api/link-jobs/${job.id}/stop`, { method: 'POST' }))
                          }
                        >
                          {t.stop}
                        </button>
                      )}
                      {['stopped', 'failed'].includes(job.state) && (
                        <button
                          type="button"
                          className="button small"
                          onClick={() =>
                            void act(sendRequest(`/api/link-jobs/${job.id}/resume`, { method: 'POST' }))
                          }
                        >
                          {t.resume}
                        </button>
                      )}
                      {job.made > 0 && (
                        <button
                          type="button"
                          className="button small"
                          onClick={() =>
                            void act(
                              download(
                                `/api/link-jobs/${job.id}/csv`,
                                `${slugOf(job.name ?? '') || 'reward-links'}.csv`,
                              ),
                            )
                          }
                        >
                          <Icon name="download" /> {t.csv}
                        </button>
                      )}
                      {job.made > 0 && (
                        <button type="button" className="button small" onClick={() => setAdding(job)}>
                          {t.addLinks}…
                        </button>
                      )}
                    </span>
                  </div>
                  {job.name !== null && <span className="hint">{jobDetails(job)}</span>}
                  <progress
                    max={job.total}
                    value={job.made}
                    aria-label={t.progress(formatNumber(job.made), formatNumber(job.total))}
                  />
                  <span className="hint">
                    {t.progress(formatNumber(job.made), formatNumber(job.total))}
                    {job.made > 0 && t.worth(formatMoney(job.made * job.denomination, job.currency))}
                    {job.campaign_id && t.forCampaign(nameOf(job.campaign_id))}
                    {Object.keys(job.attributes).length > 0 &&
                      t.forMailing(Object.values(job.attributes).join(', '))}
                    {t.madeBy(job.created_by)}
                    {job.failed.length > 0 && `, ${t.failedRows(formatNumber(job.failed.length))}`}
                  </span>
                  {job.state === 'done' && job.campaign_id && (
                    <Link to={testOf(job.campaign_id, job)}>{t.toTest}</Link>
                  )}
                  {job.made > 0 && <LinkCounts job={job} />}
                  {job.approval && <Approval job={job} approval={job.approval} />}
                  {job.code === 'LIMIT_REACHED' && <ReachedLimits job={job} />}
                  {job.code && !job.failed.some(({ code }) => code === job.code) && (
                    <p className="field-error">{texts.errors.byCode[job.code] ?? job.code}</p>
                  )}
                  {job.failed.length > 0 && (
                    <ul className="field-error">
                      {[...Map.groupBy(job.failed, ({ code }) => code)].map(([code, rows]) => (
                        <li key={code}>
                          {t.failedOf(
                            rows.map(({ row }) => row),
                            texts.errors.byCode[code] ?? code,
                          )}
                        </li>
                      ))}
                    </ul>
                  )}
                </li>
              ))}
            </ul>
          </div>
        )}
      </Loaded>
      {adding && <AddLinks job={adding} onClose={() => setAdding(null)} />}
    </Card>
  );
}
