import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { sendRequest } from '../api/http';
import type { MadeLink, RewardLink } from '../api/types';
import { Dialog } from '../parts/dialog';
import { TextField } from '../parts/fields';
import { ShownOnce } from '../parts/shown-once';
import { texts } from '../texts';

const t = texts.rewardLinks;

interface Props {
  link: RewardLink;
  /** How the list calls the link, and its value. */
  name: string;
  value: string;
  onClose: () => void;
}

/** Makes another link for a recipient whose card does not work. After a lost response, sending again makes no second one. */
export function ReplaceLink({ link, name, value, onClose }: Props) {
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [made, setMade] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const { body } = await sendRequest<MadeLink>(`/api/gift/reward-links/${link.id}/replace`, {
        method: 'POST',
        body: { reason: reason.trim() },
      });
      setMade(body.reward_link);
      void client.invalidateQueries({ queryKey: ['pools'] });
      void client.invalidateQueries({ queryKey: ['reward-links'] });
    } catch (refusal) {
      setError((refusal as Error).message);
    } finally {
      setBusy(false);
    }
  };

  if (made)
    return (
      <Dialog title={t.replacedTitle} isOpen onClose={onClose} isHeld>
        <ShownOnce text={t.replacedText} secret={made} copy={texts.giftCards.copyLink} onClose={onClose} />
      </Dialog>
    );
  return (
    <Dialog title={t.replaceTitle} isOpen onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <p>{t.replaceText(value, name)}</p>
        <TextField
          label={t.reason}
          hint={t.reasonHint}
          required
          pattern=".*\S.*"
          maxLength={255}
          value={reason}
          onValue={setReason}
        />
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
            {t.replace}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
