import type { ReactNode } from 'react';
import { isClearChange } from '../contributions';
import { daysIn, type Range } from '../dates';
import { formatChange } from '../format';
import { texts } from '../texts';

const t = texts.overview;

interface Props {
  count: number;
  before: number;
  /** Whether more is better: only such figures have colors. */
  isGood: boolean;
  /** The periods, if one can have more days. */
  periods?: readonly [now: Range, before: Range];
  children: ReactNode;
}

/**
 * Colors the change of a count, unless chance or the lengths of the periods could explain it. A change from 0 has no
 * color: a new account, for example, is neither better nor worse.
 */
export function Change({ count, before, isGood, periods, children }: Props) {
  const ratio = periods ? daysIn(periods[0]).length / daysIn(periods[1]).length : 1;
  const isMore = count > before;
  const isColored =
    isGood && before > 0 && isClearChange(count, before, ratio) && isMore === count > ratio * before;
  return <span className={isColored ? (isMore ? 'change-up' : 'change-down') : undefined}>{children}</span>;
}

/** Says by how much a count differs from the one of the period before. */
export const VersusBefore = (props: Omit<Props, 'children'>) => {
  const { count, before } = props;
  return (
    <Change {...props}>
      {count === before ? t.unchanged : before === 0 ? t.fromNothing : t.change(formatChange(count, before)!)}
    </Change>
  );
};

/** The share by which a count changed, to sort by. A count that was 0 before comes after all others. */
export const changeOf = (count: number, before: number): number =>
  before > 0 ? (count - before) / before : count > 0 ? Infinity : 0;

/** The change of the events of an account in percent. A drop has no color if the count leaves out newer events. */
export const TrafficChange = ({
  count,
  before,
  hasNewer = false,
}: {
  count: number;
  before: number;
  hasNewer?: boolean;
}) =>
  count === before ? (
    texts.none
  ) : (
    <Change {...{ count, before }} isGood={count > before || !hasNewer}>
      {formatChange(count, before) ?? texts.operatorsHome.fresh}
    </Change>
  );
