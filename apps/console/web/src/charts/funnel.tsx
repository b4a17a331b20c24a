import { Link } from 'react-router';
import { formatNumber, formatShare } from '../format';
import { texts } from '../texts';

export interface Step {
  key: string;
  name: string;
  value: number;
  /** The breakdown of the step. */
  to?: string;
}

interface Props {
  label: string;
  total: number;
  steps: Step[];
}

/**
 * Shows each step as a share of all journeys. Steps need not follow each other: a pixel may be blocked while the click
 * is tracked.
 */
export function Funnel({ label, total, steps }: Props) {
  return (
    <div className="stack">
      {total > 0 && <p className="hint">{texts.funnel.whole(total)}</p>}
      <ol className="funnel" aria-label={label}>
        {steps.map(({ key, name, value, to }) => (
          <li key={key} className="funnel-step">
            <span className="funnel-name">{to ? <Link to={to}>{name}</Link> : name}</span>
            <svg viewBox="0 0 100 28" preserveAspectRatio="none" aria-hidden="true">
              <rect className="bar-track" width="100" height="28" rx="1.5" />
              <rect
                className="funnel-fill"
                width={total > 0 ? Math.min(100, (100 * value) / total) : 0}
                height="28"
                rx="1.5"
              />
            </svg>
            <span className="funnel-value">
              <b>{formatNumber(value)}</b>{' '}
              <span className="hint">{texts.funnel.share(formatShare(value, total))}</span>
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
