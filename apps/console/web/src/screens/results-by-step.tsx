import {
  CONVERSION_MEMBERS,
  conversionAmount,
  FIRST_DAY,
  LINK_MEMBERS,
  LINK_STATES,
  linkAmounts,
  type Amount,
} from '@perkway/domain/step-amounts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { loadParts, numberOf, ofCampaign, type FunnelRows, type Row } from '../api/analytics';
import { dayOf, daysAgo, type Range } from '../dates';
import { exploreLink } from '../explore-link';
import { formatMonth } from '../format';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { Card } from '../parts/screen';
import { StepTable, type Step } from '../parts/step-table';
import { texts } from '../texts';

const t = texts.overview.sent;
const F = 'campaign_funnel';
const LINKS = 'reward_links';

const JOURNEYS = ['journeys', 'clickers', 'converters'] as const;

/** Counts links in two periods, and in all time before, which leaves those that are outstanding. */
async function loadLinks([now, before]: [Range, Range], campaignId?: string) {
  const earlier: Range = [FIRST_DAY, daysAgo(1, dayOf(before[0]))];
  return linkAmounts(
    await loadParts({
      ...LINK_MEMBERS,
      timeDimensions: [{ dimension: `${LINKS}.occurred_at`, compareDateRange: [now, before, earlier] }],
      filters: ofCampaign(LINKS, campaignId),
      limit: 10_000,
    }),
  );
}

async function loadConversions(ranges: [Range, Range], campaignId?: string) {
  const parts = await loadParts({
    ...CONVERSION_MEMBERS,
    filters: ofCampaign('conversions', campaignId),
    timeDimensions: [{ dimension: 'conversions.occurred_at', compareDateRange: ranges }],
  });
  return ranges.map((_, index) => conversionAmount(parts[index] ?? []));
}

/** The events behind each row. */
function linkTo(step: Step, range: Range, campaignId?: string): string {
  const link = (question: Omit<Parameters<typeof exploreLink>[0], 'campaignId' | 'range'>, dates = range) =>
    exploreLink({ ...question, campaignId, range: dates });
  const dimensions = ['currency', 'denomination'];
  if (step in LINK_STATES)
    return link({ cube: LINKS, dimensions, where: [{ member: 'state', value: step }] });
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
}

/** Counts and amounts of journeys, conversions and reward links, beside those of the period before. */
export function ResultsByStep({ funnel, now, before, campaignId }: Props) {
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
          return (
            <StepTable
              {...{ amounts, amountsBefore }}
              periods={[now, before]}
              linkOf={(step, period) => linkTo(step, period === 'now' ? now : before, campaignId)}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}
