import type { Difference } from '@perkway/catalogue/differences';
import '../styles/editor.css';
import { texts } from '../texts';

const LONGEST = 160;
/** Returns null for a missing value. */
function shown(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  const text = Array.isArray(value) ? value.join(', ') : String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const Value = ({ value, label, as: As }: { value: unknown; label: string; as: 'del' | 'ins' }) => {
  const text = shown(value);
  return (
    text !== null && (
      <>
        <span className="sr">{label}</span>
        <As>{text}</As>{' '}
      </>
    )
  );
};

export const Differences = ({ of }: { of: Difference[] }) => (
  <dl className="facts differences">
    {of.map(({ at, before, after }) => (
      <div key={at} className="difference">
        <dt>
          <code>{at}</code>
        </dt>
        <dd>
          <Value as="del" value={before} label={texts.differences.before} />
          <Value as="ins" value={after} label={texts.differences.after} />
        </dd>
      </div>
    ))}
  </dl>
);
