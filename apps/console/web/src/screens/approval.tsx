import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCampaignNames } from '../api/campaigns';
import { ApiError, sendRequest } from '../api/http';
import { JOBS_KEY } from '../api/link-jobs';
import { usePoolNames } from '../api/pools';
import { useSession } from '../api/session';
import type { LinkJob } from '../api/types';
import { formatMoment, formatMoney, formatNumber } from '../format';
import { DialogForm } from '../parts/dialog';
import { TextArea } from '../parts/fields';
import { useNotices } from '../parts/notices';
import { texts } from '../texts';

const t = texts.giftCards;
const MAX_COMMENT = 1_000;

interface Props {
  job: LinkJob;
  approval: NonNullable<LinkJob['approval']>;
}

const sizeOf = ({ total, denomination, currency }: LinkJob) =>
  t.size(formatNumber(total), formatMoney(total * denomination, currency));

/** Says what a job waits for or who decided on it, and lets another person decide. */
export function Approval({ job, approval }: Props) {
  const { person } = useSession();
  const [asked, setAsked] = useState<'approve' | 'reject' | null>(null);
  const { lapses_at, may_decide, decided_by, decided_at, comment } = approval;
  return (
    <>
      <p>
        <strong>{sizeOf(job)}.</strong>{' '}
        {job.state === 'awaiting_approval' && t.waits(formatMoment(lapses_at))}
        {job.state === 'lapsed' && t.lapsed(formatMoment(lapses_at))}
        {decided_by !== null &&
          (job.state === 'rejected' ? t.rejectedBy : t.approvedBy)(
            decided_by,
            formatMoment(decided_at!),
            comment!,
          )}{' '}
        {job.state === 'awaiting_approval' && person === null && t.keysCannotDecide}
      </p>
      {may_decide && (
        <div className="actions">
          <button type="button" className="button main small" onClick={() => setAsked('approve')}>
            {t.approve}
          </button>
          <button type="button" className="button small" onClick={() => setAsked('reject')}>
            {t.reject}
          </button>
        </div>
      )}
      {asked && <Decide job={job} verb={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

function Decide({ job, verb, onClose }: { job: LinkJob; verb: 'approve' | 'reject'; onClose: () => void }) {
  const client = useQueryClient();
  const { say } = useNotices();
  const [comment, setComment] = useState('');
  const isApproval = verb === 'approve';
  const [nameOfPool, nameOfCampaign] = [usePoolNames(), useCampaignNames()];

  const decide = async () => {
    try {
      await sendRequest(`/api/link-jobs/${job.id}/${verb}`, { method: 'POST', body: { comment } });
      say(isApproval ? t.approvedNotice : t.rejectedNotice);
      onClose();
    } catch (refusal) {
      const isLimit = refusal instanceof ApiError && refusal.code === 'LIMIT_REACHED';
      throw (isLimit && refusal.detail && new Error(refusal.detail)) || refusal;
    } finally {
      await client.invalidateQueries({ queryKey: JOBS_KEY });
    }
  };

  return (
    <DialogForm
      title={isApproval ? t.approveTitle : t.rejectTitle}
      action={isApproval ? t.approveNow : t.rejectNow}
      isDanger={!isApproval}
      isOpen
      onClose={onClose}
      onSubmit={decide}
    >
      <p>
        <strong>{sizeOf(job)}</strong>
        {t.madeBy(job.created_by)}. {isApproval ? t.approveText : t.rejectText}
      </p>
      <p>
        {t.cardsFrom(nameOfPool(job.pool_id), formatMoment(job.expires_at * 1_000))}{' '}
        {job.campaign_id && t.checkFor(nameOfCampaign(job.campaign_id))}
      </p>
      <TextArea
        label={t.comment}
        hint={t.commentHint}
        required
        maxLength={MAX_COMMENT}
        value={comment}
        onValue={setComment}
      />
    </DialogForm>
  );
}
