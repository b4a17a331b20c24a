import '../styles/editor.css';
import type { Difference } from '../differences';
import { texts } from '../texts';

const LONGEST = 160;
const cut = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

export const Differences = ({ of }: { of: Difference[] }) => (
  <dl className="facts differences">
    {of.map(({ at, before, after }) => (
      <div key={at} className="difference">
        <dt>
          <code>{at}</code>
        </dt>
        <dd>
          {before !== null && (
            <>
              <span className="sr">{texts.differences.before}</span>
              <del>{cut(before)}</del>{' '}
            </>
          )}
          {after !== null && (
            <>
              <span className="sr">{texts.differences.after}</span>
              <ins>{cut(after)}</ins>
            </>
          )}
        </dd>
      </div>
    ))}
  </dl>
);
