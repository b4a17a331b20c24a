import { max } from 'd3-array';
import type { ReactNode } from 'react';
import { formatValue, type Unit } from '../format';

export interface Bar {
  key: string;
  label: ReactNode;
  /** Null where there is nothing to divide by. */
  value: number | null;
  /** Shown beside the number: a share or a total. */
  note?: ReactNode;
  picture?: ReactNode;
}

/** A list that is readable as text; the bars are drawn beside the numbers. */
export function Bars({ label, bars, unit = 'count' }: { label: string; bars: Bar[]; unit?: Unit }) {
  const top = Math.max(1, max(bars, ({ value }) => value) ?? 0);
  return (
    <ul className="bars" aria-label={label}>
      {bars.map(({ key, label: name, value, note, picture }) => (
        <li key={key}>
          {picture}
          <span className="bar-label">{name}</span>
          <svg className="bar series-0" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect className="bar-track" width="100" height="8" rx="1" />
            <rect className="bar-fill" width={(100 * (value ?? 0)) / top} height="8" rx="1" />
          </svg>
          <span className="bar-value">
            <b>{formatValue(value, unit)}</b>
            {note && <span className="hint"> {note}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
