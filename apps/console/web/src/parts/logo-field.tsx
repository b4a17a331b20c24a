import { useState } from 'react';
import { texts } from '../texts';
import { FileField } from './fields';

const t = texts.logo;
const TYPES = ['image/png', 'image/svg+xml', 'image/webp', 'image/jpeg'];
/** Size limit of the hosts. */
const MOST_BYTES = 64 * 1024;

const asDataUrl = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error(t.unreadable));
    reader.readAsDataURL(file);
  });

interface Props {
  label: string;
  /** A data URL, because recipients' pages load nothing from other hosts. */
  value: string | null;
  onValue: (value: string | null) => void;
}

/** Chooses, previews and removes a small picture that is stored inside its resource. */
export function LogoField({ label, value, onValue }: Props) {
  const [error, setError] = useState<string | null>(null);
  // A new React key resets the input, so that the same file can be chosen again.
  const [round, setRound] = useState(0);
  const choose = async (file: File | null) => {
    if (!file) return;
    setError(null);
    if (!TYPES.includes(file.type)) return setError(t.type);
    if (file.size > MOST_BYTES) return setError(t.size);
    try {
      onValue(await asDataUrl(file));
    } catch (refusal) {
      setError((refusal as Error).message);
    }
  };
  return (
    <div className="logo-field">
      <FileField
        key={round}
        label={label}
        hint={t.hint}
        error={error}
        accept={TYPES.join(',')}
        onFile={(file) => void choose(file)}
      />
      {value && (
        <div className="actions">
          <img src={value} alt={t.shown} />
          <button
            type="button"
            className="button small"
            onClick={() => {
              onValue(null);
              setRound(round + 1);
            }}
          >
            {t.remove}
          </button>
        </div>
      )}
    </div>
  );
}
