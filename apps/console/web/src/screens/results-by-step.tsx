import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { loadParts, numberOf, ofCampaign, type FunnelRows, type Row } from '../api/analytics';
import { dayOf, daysAgo, FIRST_DAY, type Range } from '../dates';
import { exploreLink } from '../explore-link';
import { formatChange, formatMonth, formatNumber } from '../format';
import { addMoney, formatSums, type Money } from '../money';
import { Change } from '../parts/change';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { Card } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.overview.sent;
const F = 'campaign_funnel';
const LINKS = 'reward_links';

/** A count and, if the step has a monetary value, the total by currency. */
interface Amount {
  count: number;
  money?: Money;
}
type Step = keyof typeof t.steps;

/** What each state of a link adds to the links that are outstanding. */
const STATES = { generated: 1, revealed: -1, cancelled: -1, expired: -1 };
type State = keyof typeof STATES;
/** Steps of which more is better. */
const GOOD: Step[] = ['journeys', 'clickers', 'converters', 'conversions', 'revealed'];
/** Steps of links, which are folded into one line if they have no count. */
const LINK_STEPS = Object.keys(t.unusedSteps) as (keyof typeof t.unusedSteps)[];
const JOURNEYS = ['journeys', 'clickers', 'converters'] as const;

const nothing = () => ({ count: 0, money: new Map() as Money });
/**
 * Counts links by what happened to them in the dates; a link is worth the value of its card. A link is outstanding at the
 * end of the dates if nothing happened to it after it was made.
 */
async function loadLinks([now, before]: [Range, Range], campaignId?: string) {
  const earlier: Range = [FIRST_DAY, daysAgo(1, dayOf(before[0]))];
  const parts = await loadParts({
    measures: [`${LINKS}.count`],
    dimensions: [`${LINKS}.state`, `${LINKS}.currency`, `${LINKS}.denomination`],
    timeDimensions: [{ dimension: `${LINKS}.occurred_at`, compareDateRange: [now, before, earlier] }],
    filters: ofCampaign(LINKS, campaignId),
    limit: 10_000,
  });
  const outstanding = nothing();
  // The oldest dates first, so that the outstanding links add up.
  return [...parts]
    .reverse()
    .map((rows) => {
      const amounts = {
        ...{ generated: nothing(), revealed: nothing(), cancelled: nothing(), expired: nothing() },
        outstanding,
      };
      for (const row of rows) {
        const state = row[`${LINKS}.state`] as State;
        const count = numberOf(row, `${LINKS}.count`);
        const value = count * numberOf(row, `${LINKS}.denomination`);
        const currency = row[`${LINKS}.currency`];
        amounts[state].count += count;
        addMoney(amounts[state].money, currency, value);
        outstanding.count += STATES[state] * count;
        addMoney(outstanding.money, currency, STATES[state] * value);
      }
      return { ...amounts, outstanding: { count: outstanding.count, money: new Map(outstanding.money) } };
    })
    .reverse();
}

/** Counts the conversions of people, and adds up the values that the servers sent with them. */
async function loadConversions(ranges: [Range, Range], campaignId?: string) {
  const parts = await loadParts({
    measures: ['conversions.count', 'conversions.value'],
    dimensions: ['conversions.currency'],
    segments: ['conversions.people'],
    filters: ofCampaign('conversions', campaignId),
    timeDimensions: [{ dimension: 'conversions.occurred_at', compareDateRange: ranges }],
  });
  return ranges.map((_, index) => {
    const amount = nothing();
    for (const row of parts[index] ?? []) {
      amount.count += numberOf(row, 'conversions.count');
      addMoney(amount.money, row['conversions.currency'], numberOf(row, 'conversions.value'));
    }
    return amount;
  });
}

/** The events behind each row. */
function linkTo(step: Step, range: Range, campaignId?: string): string {
  const link = (question: Omit<Parameters<typeof exploreLink>[0], 'campaignId' | 'range'>, dates = range) =>
    exploreLink({ ...question, campaignId, range: dates });
  const dimensions = ['currency', 'denomination'];
  if (step in STATES) return link({ cube: LINKS, dimensions, where: [{ member: 'state', value: step }] });
  if (step === 'outstanding')
    return link({ cube: LINKS, dimensions: ['state', ...dimensions] }, [FIRST_DAY, range[1]]);
  if (step === 'conversions')
    return link({
      cube: 'conversions',
      measures: ['count', 'value'],
      dimensions: ['currency'],
      isPeople: true,
    });
  return link({
    cube: F,
    measures: [step],
    dimensions: [campaignId === undefined ? 'campaign_name' : 'utm_source'],
  });
}

interface Props {
  funnel: FunnelRows;
  now: Range;
  before: Range;
  campaignId?: string;
  /** What the card says about its links. */
  children?: ReactNode;
}

/** Counts and amounts of each step from a reward link to a conversion, beside those of the period before. */
export function ResultsByStep({ funnel, now, before, campaignId, children }: Props) {
  const query = useQuery({
    queryKey: ['results-by-step', now, campaignId],
    queryFn: async () => {
      const ranges: [Range, Range] = [now, before];
      const [links, conversions] = await Promise.all([
        loadLinks(ranges, campaignId),
        loadConversions(ranges, campaignId),
      ]);
      return ranges.map((_, index) => ({ ...links[index]!, conversions: conversions[index]! }));
    },
    ...useLiveInterval(),
  });
  // A month to come has no statement.
  const month = [now[1], new Date().toISOString()].sort()[0]!.slice(0, 7);
  return (
    <Card
      title={t.title}
      note={
        <>
          {t.note} <Link to="/documentation/figures">{t.howCounted}</Link>
        </>
      }
      actions={
        campaignId === undefined && (
          <Link to={`/statements?month=${month}`}>{t.statement(formatMonth(month))}</Link>
        )
      }
    >
      <Loaded query={query} lines={8}>
        {([worthNow, worthBefore]) => {
          const journeys = (row: Row | undefined) =>
            Object.fromEntries(
              JOURNEYS.map((member) => [member, { count: numberOf(row, `${F}.${member}`) }]),
            ) as Record<(typeof JOURNEYS)[number], Amount>;
          const amounts: Record<Step, Amount> = { ...worthNow!, ...journeys(funnel.current) };
          const amountsBefore: Record<Step, Amount> = { ...worthBefore!, ...journeys(funnel.earlier) };
          const unused = LINK_STEPS.filter(
            (step) => amounts[step].count === 0 && amountsBefore[step].count === 0,
          );
          const table = (
            <Table
              caption={t.title}
              rows={(Object.keys(t.steps) as Step[]).filter((step) => !(unused as Step[]).includes(step))}
              keyOf={(step) => step}
              columns={[
                {
                  name: t.step,
                  isHead: true,
                  cell: (step) => <Link to={linkTo(step, now, campaignId)}>{t.steps[step]}</Link>,
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
                    <Link to={linkTo(step, before, campaignId)}>
                      {formatNumber(amountsBefore[step].count)}
                    </Link>
                  ),
                },
                {
                  name: t.change,
                  isNumber: true,
                  cell: (step) => {
                    const counts = { count: amounts[step].count, before: amountsBefore[step].count };
                    return (
                      <Change {...counts} isGood={counts.before > 0 && GOOD.includes(step)}>
                        {formatChange(counts.count, counts.before) ?? texts.none}
                      </Change>
                    );
                  },
                },
                { name: t.value, isNumber: true, cell: (step) => formatSums(amounts[step].money) },
                {
                  name: t.valueBefore,
                  isNumber: true,
                  cell: (step) => formatSums(amountsBefore[step].money),
                },
              ]}
            />
          );
          return (
            <div className="stack">
              {table}
              {unused.length > 0 && <p>{t.unused(unused.map((step) => t.unusedSteps[step]))}</p>}
              {children && <p>{children}</p>}
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}
