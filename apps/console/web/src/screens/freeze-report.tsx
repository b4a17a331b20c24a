import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { sendRequest } from '../api/http';
import type { Campaign, MadeReport } from '../api/types';
import { dayOf, daysAgo, type Range } from '../dates';
import { formatLongDay } from '../format';
import { Dialog } from '../parts/dialog';
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
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [from, to] = range;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
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
    } catch (refusal) {
      setError((refusal as Error).message);
    } finally {
      setBusy(false);
    }
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
    <Dialog title={t.freezeTitle} isOpen onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <p>{t.freezeText(formatLongDay(dayOf(from)), formatLongDay(dayOf(to)))}</p>
        <TextField label={t.name} required maxLength={200} value={title} onValue={setTitle} />
        <TextField label={t.until} type="date" required min={daysAgo(0)} value={until} onValue={setUntil} />
        {error && (
          <p className="field-error" role="alert">
            {error}
          </p>
        )}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={onClose}>
            {texts.cancel}
          </button>
          <button type="submit" className="button main" disabled={isBusy}>
            {t.freeze}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
