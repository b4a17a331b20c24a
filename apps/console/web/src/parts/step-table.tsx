import type { Amount } from '@perkway/domain/step-amounts';
import { Link } from 'react-router';
import type { Range } from '../dates';
import { formatChange, formatNumber } from '../format';
import { formatSums } from '../money';
import { texts } from '../texts';
import { Change } from './change';
import { Table } from './table';

const t = texts.overview.sent;
export type Step = keyof typeof t.steps;

/** Steps of which more is better. */
const GOOD: Step[] = ['journeys', 'clickers', 'converters', 'conversions', 'revealed'];
/** Steps of links, which are folded into one line if they have no count. */
const LINK_STEPS = Object.keys(t.unusedSteps) as (keyof typeof t.unusedSteps)[];
interface Props {
  amounts: Record<Step, Amount>;
  amountsBefore: Record<Step, Amount>;
  periods: readonly [now: Range, before: Range];
  /** The events behind a count; a report has none. */
  linkOf?: (step: Step, period: 'now' | 'before') => string;
}

/** The value of the opened links, divided by a count; null if there is nothing to divide. */
const spentPer = ({ count }: Amount, { money }: Amount): string | null =>
  count > 0 && money?.size
    ? formatSums(new Map([...money].map(([currency, sum]) => [currency, sum / count])))
    : null;

/** Counts and amounts of two periods; steps of links that have none in both are named below. */
export function StepTable({ amounts, amountsBefore, periods, linkOf }: Props) {
  const unused = LINK_STEPS.filter((step) => amounts[step].count === 0 && amountsBefore[step].count === 0);
  const perConversion = spentPer(amounts.conversions, amounts.revealed);
  // With several currencies, no count belongs to each amount.
  const perOpened = amounts.revealed.money?.size === 1 ? spentPer(amounts.revealed, amounts.revealed) : null;
  const linked = (step: Step, period: 'now' | 'before', text: string) =>
    linkOf ? <Link to={linkOf(step, period)}>{text}</Link> : text;
  return (
    <div className="stack">
      <Table
        caption={t.title}
        rows={(Object.keys(t.steps) as Step[]).filter((step) => !(unused as Step[]).includes(step))}
        keyOf={(step) => step}
        columns={[
          { name: t.step, isHead: true, cell: (step) => linked(step, 'now', t.steps[step]) },
          {
            name: texts.overview.now,
            isNumber: true,
            cell: (step) => formatNumber(amounts[step].count),
          },
          {
            name: texts.overview.before,
            isNumber: true,
            cell: (step) => linked(step, 'before', formatNumber(amountsBefore[step].count)),
          },
          {
            name: t.change,
            isNumber: true,
            cell: (step) => {
              const counts = { count: amounts[step].count, before: amountsBefore[step].count };
              return (
                <Change {...counts} periods={periods} isGood={GOOD.includes(step)}>
                  {formatChange(counts.count, counts.before) ?? texts.none}
                </Change>
              );
            },
          },
          { name: t.value, isNumber: true, cell: (step) => formatSums(amounts[step].money) },
          { name: t.valueBefore, isNumber: true, cell: (step) => formatSums(amountsBefore[step].money) },
        ]}
      />
      {amounts.revealed.count === 0 && amounts.conversions.count > 0 && <p>{t.nothingSpent}</p>}
      {(perConversion ?? perOpened) && (
        <div>
          {perConversion && <p>{t.spentPerConversion(perConversion)}</p>}
          {perOpened && <p>{t.spentPerOpened(perOpened)}</p>}
        </div>
      )}
      {unused.length > 0 && <p>{t.unused(unused.map((step) => t.unusedSteps[step]))}</p>}
    </div>
  );
}
