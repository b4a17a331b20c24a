import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { sendRequest } from '../api/http';
import type { Campaign, MadeReport } from '../api/types';
import { dayOf, daysAgo, type Range } from '../dates';
import { formatLongDay } from '../format';
import { Dialog, DialogForm } from '../parts/dialog';
import { TextField } from '../parts/fields';
import { ShownOnce } from '../parts/shown-once';
import { texts } from '../texts';

const t = texts.reports;

interface Props {
  campaign: Campaign;
  range: Range;
  onClose: () => void;
}

export default function FreezeReport({ campaign, range, onClose }: Props) {
  const client = useQueryClient();
  const [title, setTitle] = useState(t.defaultTitle(campaign.name));
  const [until, setUntil] = useState(daysAgo(-90));
  const [url, setUrl] = useState<string | null>(null);
  const [from, to] = range;

  const freeze = async () => {
    const expires = dayOf(until);
    expires.setHours(23, 59, 59, 0);
    const { body } = await sendRequest<MadeReport>('/api/reports', {
      method: 'POST',
      body: {
        campaignId: campaign.id,
        range: { from, to },
        title: title.trim(),
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
      <p>{t.freezeText(formatLongDay(dayOf(from)), formatLongDay(dayOf(to)))}</p>
      <TextField label={t.name} required maxLength={200} value={title} onValue={setTitle} />
      <TextField label={t.until} type="date" required min={daysAgo(0)} value={until} onValue={setUntil} />
    </DialogForm>
  );
}
