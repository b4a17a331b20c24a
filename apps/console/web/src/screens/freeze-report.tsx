import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCampaigns } from '../api/campaigns';
import { sendRequest } from '../api/http';
import type { Campaign, MadeReport } from '../api/types';
import { dayOf, daysAgo, type Range } from '../dates';
import { formatRange } from '../format';
import { Dialog, DialogForm } from '../parts/dialog';
import { SelectField, TextArea, TextField } from '../parts/fields';
import { RangeFields } from '../parts/range-picker';
import { ShownOnce } from '../parts/shown-once';
import { texts } from '../texts';

const t = texts.reports;

interface Props {
  /** Without it, the dialog asks for the campaign and the dates. */
  campaign?: Campaign;
  range: Range;
  onClose: () => void;
}

export default function FreezeReport({ campaign: given, range, onClose }: Props) {
  const client = useQueryClient();
  const campaigns = useCampaigns();
  const [chosen, setChosen] = useState('');
  const campaign = given ?? campaigns.data?.find(({ id }) => id === chosen) ?? campaigns.data?.[0];
  const [typed, setTitle] = useState<string | null>(null);
  const title = typed ?? (campaign ? t.defaultTitle(campaign.name) : '');
  const [comment, setComment] = useState('');
  const [until, setUntil] = useState(daysAgo(-90));
  const [url, setUrl] = useState<string | null>(null);
  const [dates, setDates] = useState(range);
  const [from, to] = dates;

  const freeze = async () => {
    if (!campaign) throw new Error(t.noCampaign);
    const expires = dayOf(until);
    expires.setHours(23, 59, 59, 0);
    const { body } = await sendRequest<MadeReport>('/api/reports', {
      method: 'POST',
      body: {
        campaignId: campaign.id,
        range: { from, to },
        title: title.trim(),
        comment: comment.trim() || null,
        expiresAt: expires.toISOString(),
      },
    });
    setUrl(body.url);
    await client.invalidateQueries({ queryKey: ['reports'] });
  };

  if (url)
    return (
      <Dialog title={t.madeTitle} isOpen onClose={onClose} isHeld>
        <ShownOnce text={t.madeText} secret={url} copy={t.copyLink} onClose={onClose}>
          <a className="button" href={url} target="_blank" rel="noreferrer">
            {t.open}
          </a>
        </ShownOnce>
      </Dialog>
    );
  return (
    <DialogForm title={t.freezeTitle} action={t.freeze} isOpen onClose={onClose} onSubmit={freeze}>
      {given ? (
        <p>{t.freezeText(formatRange([from, to]))}</p>
      ) : (
        <>
          <SelectField
            label={t.campaign}
            value={campaign?.id ?? ''}
            options={(campaigns.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            onValue={setChosen}
          />
          <RangeFields range={dates} onRange={setDates} />
        </>
      )}
      <TextField label={t.name} required maxLength={200} value={title} onValue={setTitle} />
      <TextArea
        label={t.comment}
        hint={t.commentHint}
        className="wide"
        maxLength={2000}
        value={comment}
        onValue={setComment}
      />
      <TextField label={t.until} type="date" required min={daysAgo(0)} value={until} onValue={setUntil} />
    </DialogForm>
  );
}
