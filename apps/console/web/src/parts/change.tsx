import type { ReactNode } from 'react';
import { isClearChange } from '../contributions';

interface Props {
  count: number;
  before: number;
  /** Whether more is better: only such figures have colors. */
  isGood: boolean;
  children: ReactNode;
}

/** Colors the change of a count, unless chance could explain it. */
export const Change = ({ count, before, isGood, children }: Props) => (
  <span
    className={
      isGood && isClearChange(count, before) ? (count > before ? 'change-up' : 'change-down') : undefined
    }
  >
    {children}
  </span>
);
