import { texts } from '../texts';
import { Icon } from './icon';
import { useNotices } from './notices';

interface Props {
  text: string;
  label?: string;
  /** Distinguishes several buttons for screen readers. */
  of?: string;
}

export function CopyButton({ text, label = texts.copy, of }: Props) {
  const { say } = useNotices();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say(texts.copied);
    } catch {
      say(texts.notCopied, 'bad');
    }
  };
  return (
    <button
      type="button"
      className={of ? 'button small' : 'button'}
      aria-label={of && `${label}: ${of}`}
      onClick={() => void copy()}
    >
      <Icon name="copy" /> {label}
    </button>
  );
}
