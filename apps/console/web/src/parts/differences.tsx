import type { Difference } from '@perkway/catalogue/differences';
import { isRecord } from '@perkway/domain/is-record';
import '../styles/editor.css';
import { labelOf } from '../field-labels';
import { texts } from '../texts';

const LONGEST = 160;
/** Returns null for a missing value. */
export function shownValue(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  const items = isRecord(value) ? Object.values(value).filter(Boolean) : value;
  const text = Array.isArray(items) ? items.join(', ') : String(items);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const Value = ({ value, label, as: As }: { value: unknown; label: string; as: 'del' | 'ins' }) => {
  const text = shownValue(value);
  return (
    text !== null && (
      <>
        <span className="sr">{label}</span>
        <As>{text}</As>{' '}
      </>
    )
  );
};

interface Props {
  of: Difference[];
  /** Labels by path, to show instead of paths. */
  labels?: Readonly<Record<string, string>>;
}

export const Differences = ({ of, labels }: Props) => (
  <dl className="facts differences">
    {of.map(({ at, before, after }) => {
      const label = labels ? labelOf(labels, at.split('.')) : at;
      return (
        <div key={at} className="difference">
          <dt>{label === at ? <code>{at}</code> : label}</dt>
          <dd>
            <Value as="del" value={before} label={texts.differences.before} />
            <Value as="ins" value={after} label={texts.differences.after} />
          </dd>
        </div>
      );
    })}
  </dl>
);
