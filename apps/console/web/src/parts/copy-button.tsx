import { useState } from 'react';
import { texts } from '../texts';
import { Icon } from './icon';
import { useNotices } from './notices';

interface Props {
  text: string;
  label?: string;
  /** Distinguishes several buttons for screen readers. */
  of?: string;
  /** The first action of a dialog. */
  isMain?: boolean;
}

/** Copies the text. If the browser does not allow that, shows it in a field, selected, to be copied by hand. */
export function CopyButton({ text, label = texts.copy, of, isMain }: Props) {
  const { say } = useNotices();
  const [isByHand, setByHand] = useState(false);
  const copy = async () => {
    setByHand(false);
    try {
      await navigator.clipboard.writeText(text);
      say(texts.copied);
    } catch {
      setByHand(true);
      say(texts.notCopied, 'bad');
    }
  };
  return (
    <>
      <button
        type="button"
        className={of ? 'button small' : isMain ? 'button main' : 'button'}
        aria-label={of && `${label}: ${of}`}
        onClick={() => void copy()}
      >
        <Icon name="copy" /> {label}
      </button>
      {isByHand && (
        <textarea
          className="copy-by-hand"
          aria-label={texts.toCopy}
          readOnly
          rows={Math.min(6, text.split('\n').length + 1)}
          value={text}
          autoFocus
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
      )}
    </>
  );
}
