import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { perkway, responseOf } from '../api/perkway';
import { refreshGiftCards } from '../api/stock';
import type { RewardLink } from '../api/types';
import { dayOf, daysAgo } from '../dates';
import { Dialog, DialogForm } from '../parts/dialog';
import { ReasonField, TextField } from '../parts/fields';
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

/**
 * Replaces a link that was lost, which is cancelled first, or one whose card does not work. Sending the form again,
 * here or in another window, makes no second link.
 */
export function ReplaceLink({ link, name, value, onClose }: Props) {
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState(daysAgo(-30));
  const [made, setMade] = useState<string | null>(null);
  const isLost = link.state !== 'REVEALED';

  const replace = async () => {
    const expires = dayOf(until);
    expires.setHours(23, 59, 59, 0);
    try {
      const { reward_link } = await responseOf(
        perkway.gift.replaceRewardLink({
          linkId: link.id,
          // The console's server replaces this with the person or key.
          createdBy: 'console',
          reason: reason.trim(),
          expires_at: Math.floor(expires.getTime() / 1000),
          cancel_unrevealed: isLost,
        }),
      );
      setMade(reward_link);
    } finally {
      // Also after a refusal: the link may be cancelled by now, or opened.
      void refreshGiftCards(client);
    }
  };

  if (made)
    return (
      <Dialog title={t.replacedTitle} isOpen onClose={onClose} isHeld>
        <ShownOnce text={t.replacedText} secret={made} copy={texts.giftCards.copyLink} onClose={onClose} />
      </Dialog>
    );
  return (
    <DialogForm title={t.replaceTitle} action={t.replace} isOpen onClose={onClose} onSubmit={replace}>
      <p>{isLost ? t.replaceLostText(value, name) : t.replaceText(value, name)}</p>
      <ReasonField hint={t.reasonHint} value={reason} onValue={setReason} />
      <TextField
        label={texts.giftCards.expires}
        type="date"
        required
        min={daysAgo(0)}
        value={until}
        onValue={setUntil}
      />
    </DialogForm>
  );
}
