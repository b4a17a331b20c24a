import { texts } from '../texts';
import { Icon } from './icon';
import { useNotices } from './notices';

export function CopyButton({ text, label = texts.copy }: { text: string; label?: string }) {
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
    <button type="button" className="button" onClick={() => void copy()}>
      <Icon name="copy" /> {label}
    </button>
  );
}
