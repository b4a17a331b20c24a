import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { loadParts, numberOf, type Row } from '../api/analytics';
import type { Range } from '../dates';
import { exploreLink } from '../explore-link';
import { formatChange, formatList, formatMoney, formatMonth, formatNumber } from '../format';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { Card } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.overview.sent;
const F = 'campaign_funnel';
const LINKS = 'reward_links';

/** A count and, for what is worth money, the sum of its values by currency. */
interface Amount {
  count: number;
  money?: Map<string, number>;
}
type Step = keyof typeof t.steps;

const STATES = ['generated', 'revealed', 'cancelled', 'expired'] as const;
const JOURNEYS = ['journeys', 'clickers', 'converters'] as const;

const withMoney = () => ({ count: 0, money: new Map<string, number>() });
/** No currency has more than three decimals. */
const add = ({ money }: Amount, row: Row, currency: string, value: number) => {
  const name = row[currency];
  if (money && typeof name === 'string' && value !== 0)
    money.set(name, Number(((money.get(name) ?? 0) + value).toFixed(3)));
};

/** Counts links by what happened to them in the dates; a link is worth the value of its card. */
async function loadLinks(ranges: [Range, Range]) {
  const parts = await loadParts({
    measures: [`${LINKS}.count`],
    dimensions: [`${LINKS}.state`, `${LINKS}.currency`, `${LINKS}.denomination`],
    timeDimensions: [{ dimension: `${LINKS}.occurred_at`, compareDateRange: ranges }],
    limit: 10_000,
  });
  return ranges.map((_, index) => {
    const amounts = Object.fromEntries(STATES.map((state) => [state, withMoney()])) as Record<
      (typeof STATES)[number],
      Amount
    >;
    for (const row of parts[index] ?? []) {
      const amount = amounts[row[`${LINKS}.state`] as (typeof STATES)[number]];
      if (!amount) continue;
      const count = numberOf(row, `${LINKS}.count`);
      amount.count += count;
      add(amount, row, `${LINKS}.currency`, count * numberOf(row, `${LINKS}.denomination`));
    }
    return amounts;
  });
}

/** Counts the conversions of people, and adds up the values that the servers sent with them. */
async function loadConversions(ranges: [Range, Range]) {
  const parts = await loadParts({
    measures: ['conversions.count', 'conversions.value'],
    dimensions: ['conversions.currency'],
    segments: ['conversions.people'],
    timeDimensions: [{ dimension: 'conversions.occurred_at', compareDateRange: ranges }],
  });
  return ranges.map((_, index) => {
    const amount = withMoney();
    for (const row of parts[index] ?? []) {
      amount.count += numberOf(row, 'conversions.count');
      add(amount, row, 'conversions.currency', numberOf(row, 'conversions.value'));
    }
    return amount;
  });
}

/** The events behind each row. */
const linkTo = (step: Step, range: Range): string => {
  if (STATES.includes(step as never))
    return exploreLink({
      cube: LINKS,
      dimensions: ['currency', 'denomination'],
      where: [{ member: 'state', value: step }],
      range,
    });
  if (step === 'conversions')
    return exploreLink({
      cube: 'conversions',
      measures: ['count', 'value'],
      dimensions: ['currency'],
      isPeople: true,
      range,
    });
  return exploreLink({ cube: F, measures: [step], dimensions: ['campaign_name'], range });
};

const moneyOf = ({ money }: Amount) =>
  money && money.size > 0
    ? formatList(
        [...money]
          .sort(([one], [other]) => one.localeCompare(other))
          .map(([code, sum]) => formatMoney(sum, code)),
      )
    : texts.none;

interface Props {
  /** The funnel of these dates and of those before. */
  funnel: { current: Row | undefined; earlier: Row | undefined };
  now: Range;
  before: Range;
}

/** Counts and amounts of each step from a reward link to a conversion, beside those of the period before. */
export function Sent({ funnel, now, before }: Props) {
  const query = useQuery({
    queryKey: ['overview-sent', now],
    queryFn: async () => {
      const ranges: [Range, Range] = [now, before];
      const [links, conversions] = await Promise.all([loadLinks(ranges), loadConversions(ranges)]);
      return ranges.map((_, index) => ({ ...links[index]!, conversions: conversions[index]! }));
    },
    ...useLiveInterval(),
  });
  // A month to come has no statement.
  const month = [now[1], new Date().toISOString()].sort()[0]!.slice(0, 7);
  return (
    <Card
      title={t.title}
      note={`${t.note} ${texts.counting.distinct}`}
      actions={<Link to={`/statements?month=${month}`}>{t.statement(formatMonth(month))}</Link>}
    >
      <Loaded query={query} lines={8}>
        {([worthNow, worthBefore]) => {
          const journeys = (row: Row | undefined) =>
            Object.fromEntries(
              JOURNEYS.map((member) => [member, { count: numberOf(row, `${F}.${member}`) }]),
            ) as Record<(typeof JOURNEYS)[number], Amount>;
          const amounts: Record<Step, Amount> = { ...worthNow!, ...journeys(funnel.current) };
          const amountsBefore: Record<Step, Amount> = { ...worthBefore!, ...journeys(funnel.earlier) };
          return (
            <Table
              caption={t.title}
              rows={Object.keys(t.steps) as Step[]}
              keyOf={(step) => step}
              columns={[
                {
                  name: t.step,
                  isHead: true,
                  cell: (step) => <Link to={linkTo(step, now)}>{t.steps[step]}</Link>,
                },
                {
                  name: texts.overview.now,
                  isNumber: true,
                  cell: (step) => formatNumber(amounts[step].count),
                },
                {
                  name: texts.overview.before,
                  isNumber: true,
                  cell: (step) => (
                    <Link to={linkTo(step, before)}>{formatNumber(amountsBefore[step].count)}</Link>
                  ),
                },
                {
                  name: t.change,
                  isNumber: true,
                  cell: (step) => formatChange(amounts[step].count, amountsBefore[step].count) ?? texts.none,
                },
                { name: t.value, isNumber: true, cell: (step) => moneyOf(amounts[step]) },
                { name: t.valueBefore, isNumber: true, cell: (step) => moneyOf(amountsBefore[step]) },
              ]}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}
