import { useQueries, useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import {
  COMPARED,
  comparedJourneys,
  linkOnlyIn,
  loadMeta,
  loadParts,
  numberOf,
  ofCampaign,
  type FunnelRows,
  type Row,
} from '../api/analytics';
import { attributeOf } from '../attribute-of';
import { compareRates, totalOf, type Total } from '../contributions';
import type { Range } from '../dates';
import { exploreLink } from '../explore-link';
import { formatDifference, formatNumber, formatPoints, formatShare, formatTerms } from '../format';
import { SelectField } from '../parts/fields';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { Outcome } from '../parts/outcome';
import { Card } from '../parts/screen';
import { Table } from '../parts/table';
import {
  changedParts,
  changedPerks,
  PartName,
  partWord,
  RateVerdict,
  type ChangedPart,
} from '../parts/verdict';
import { texts } from '../texts';
import { ClickLinks, loadClicksByPerk } from './perk-clicks';

const t = texts.overview;
const c = t.changed;
const F = 'campaign_funnel';
const SHOWN_PARTS = 12;
/** A response with this many rows may be incomplete, so its parts are not compared. */
const MOST_PARTS = 1_000;
/** An attribute with more values, such as a customer id, tells people apart instead of segments. */
const MOST_SEGMENTS = 50;
/** Number of attributes that the verdict examines by itself. The user can select the others. */
const MOST_ATTRIBUTES = 3;

/** The measure of the journeys that reached an outcome. */
type Outcomes = keyof typeof c.outcomes;

/** Returns, for each period, the number of journeys and how many of them reached the outcome. */
const countsOf = (outcome: Outcomes, { current, earlier }: FunnelRows): Total => ({
  journeys: comparedJourneys(current),
  reached: numberOf(current, `${F}.${outcome}`),
  journeysBefore: comparedJourneys(earlier),
  reachedBefore: numberOf(earlier, `${F}.${outcome}`),
});

/** Two periods to compare, of one campaign or, without `campaignId`, of all. */
interface Comparison {
  now: Range;
  before: Range;
  outcome: Outcomes;
  total: Total;
  campaignId?: string;
}

interface Change extends ChangedPart {
  /** Null for the total. */
  to: string | null;
}

/**
 * Loads the counts of both periods by the value of the first dimension; the last dimension is the name of the value.
 * Returns null if there are too many values.
 */
async function loadBy(dimensions: string[], { now, before, outcome, campaignId }: Comparison) {
  const members = dimensions.map((name) => `${F}.${name}`);
  const parts = await loadParts({
    measures: [...COMPARED, outcome].map((name) => `${F}.${name}`),
    dimensions: members,
    timeDimensions: [{ dimension: `${F}.occurred_at`, compareDateRange: [now, before] }],
    filters: ofCampaign(F, campaignId),
    order: { [`${F}.journeys`]: 'desc' },
    limit: MOST_PARTS,
  });
  if (parts.some((rows) => rows.length === MOST_PARTS)) return null;
  const keyOf = (row: Row) => JSON.stringify(members.map((member) => row[member] ?? null));
  const [rows, rowsBefore] = [0, 1].map(
    (at) => new Map((parts[at] ?? []).map((row) => [keyOf(row), row])),
  ) as [Map<string, Row>, Map<string, Row>];
  return [...new Map([...rowsBefore, ...rows])].map(([key, row]) => {
    const name = row[members.at(-1)!] ?? row[members[0]!] ?? null;
    return {
      ...countsOf(outcome, { current: rows.get(key), earlier: rowsBefore.get(key) }),
      key,
      value: row[members[0]!] === null ? null : String(row[members[0]!]),
      name: name === null ? '' : String(name),
    };
  });
}

interface Changes {
  parts: Change[];
  total: Change;
}

/** Returns the total row: the rate with any perk, or the rate over all values of the dimension. */
const totalRow = (name: string, count: number, countBefore: number, all: Total): Change => ({
  key: 'total',
  value: null,
  name,
  count,
  countBefore,
  rate: formatShare(all.reached, all.journeys),
  rateBefore: formatShare(all.reachedBefore, all.journeysBefore),
  points: all.reached / all.journeys - all.reachedBefore / all.journeysBefore,
  fromRate: null,
  deviations: null,
  to: null,
});

/** Computes what each part added to the change of the rate; null if there are too many parts. */
async function loadChanges(breakdown: string, comparison: Comparison): Promise<Changes | null> {
  const { now, total, outcome, campaignId } = comparison;
  const isPerk = breakdown === 'perk';
  const dimensions = isPerk
    ? ['perk_id', 'perk_title']
    : breakdown === 'campaign_name'
      ? ['campaign_id', 'campaign_name']
      : [breakdown];
  const parts = await loadBy(dimensions, comparison);
  if (!parts) return null;
  const toOf = (value: string | null) =>
    breakdown === 'campaign_name' && value !== null
      ? `/campaigns/${encodeURIComponent(value)}?from=${now[0]}&to=${now[1]}`
      : exploreLink({
          cube: F,
          measures: isPerk
            ? [outcome]
            : [...COMPARED, outcome, outcome === 'clickers' ? 'click_rate' : 'journey_conversion_rate'],
          campaignId,
          where: [{ member: dimensions[0]!, value }],
          steps: 'day',
          range: now,
        });
  const withLinks = (changed: ChangedPart[]) => changed.map((part) => ({ ...part, to: toOf(part.value) }));
  if (isPerk)
    return {
      parts: withLinks(
        changedPerks(
          parts.filter(({ value }) => value !== null),
          total,
        ),
      ),
      total: totalRow(c.anyPerk, total.reached, total.reachedBefore, total),
    };
  const all = totalOf(parts);
  return {
    parts: withLinks(changedParts(parts)),
    total: totalRow(c.all, all.journeys, all.journeysBefore, all),
  };
}

const changesQuery = (breakdown: string, comparison: Comparison) => ({
  queryKey: ['changes', breakdown, comparison],
  queryFn: () => loadChanges(breakdown, comparison),
});

/** Returns the custom attributes that the account uses, as members of the funnel. */
function useAttributes(): string[] {
  const meta = useQuery({ queryKey: ['meta'], queryFn: ({ signal }) => loadMeta(signal), staleTime: 60_000 });
  return (meta.data?.find(({ name }) => name === F)?.dimensions ?? [])
    .map(({ name }) => name.slice(F.length + 1))
    .filter((name) => attributeOf(name));
}

interface Props extends Omit<Comparison, 'outcome' | 'total'> {
  funnel: FunnelRows;
}

/**
 * Says whether the rates of clicks and conversions changed, which source, perk and segments made most of the change,
 * and which lowered the rate most.
 */
export function Verdict({ funnel, ...periods }: Props) {
  const { current, earlier } = funnel;
  const total = countsOf('clickers', funnel);
  const leavesOut = linkOnlyIn(current) + linkOnlyIn(earlier) > 0;
  if (numberOf(current, `${F}.journeys`) === 0) return <p className="headline">{t.verdict.none}</p>;
  return (
    <div className="stack">
      <p className="headline">
        <Outcome countOf={(step) => numberOf(current, `${F}.${step}`)} />
      </p>
      {total.journeys > 0 && (
        <>
          <VerdictOf leavesOut={leavesOut} comparison={{ ...periods, outcome: 'clickers', total }} />
          <VerdictOf
            leavesOut={leavesOut}
            comparison={{ ...periods, outcome: 'converters', total: countsOf('converters', funnel) }}
          />
        </>
      )}
      <p className="hint">
        {t.verdict.journey} {total.journeysBefore > 0 && t.verdict.perks} {leavesOut && t.verdict.linkOnly}
      </p>
    </div>
  );
}

function VerdictOf({ comparison, leavesOut }: { comparison: Comparison; leavesOut: boolean }) {
  const { outcome, total } = comparison;
  const verdict = compareRates(total);
  const attributes = useAttributes();
  const isChanged = verdict === 'better' || verdict === 'worse';
  // Also without a clear change: falls and rises of different parts can cancel each other out.
  const breakdowns = verdict
    ? ['utm_source', 'perk', ...(isChanged ? attributes.slice(0, MOST_ATTRIBUTES) : [])]
    : [];
  const found = useQueries({ queries: breakdowns.map((breakdown) => changesQuery(breakdown, comparison)) });
  const isComplete = found.every(({ isPending }) => !isPending);
  const changes = (isComplete ? breakdowns : []).flatMap((breakdown, index) => {
    const parts = found[index]?.data?.parts ?? [];
    return attributeOf(breakdown) && parts.length > MOST_SEGMENTS ? [] : { breakdown, parts };
  });
  return <RateVerdict {...{ outcome, total, changes, leavesOut, isComplete }} />;
}

const ratesOf = (breakdown: string) => (breakdown === 'perk' ? texts.rates.ofAll : c.outcomes);

/** Lists what each source, campaign, perk or segment added to the change. */
export function Changed({ funnel, ...periods }: Props) {
  const [params, setParams] = useSearchParams();
  const attributes = useAttributes();
  const { utm_source, utm_medium, perk } = c.breakdowns;
  const breakdowns: Record<string, string> = {
    ...(periods.campaignId === undefined ? c.breakdowns : { utm_source, utm_medium, perk }),
    ...Object.fromEntries(attributes.map((name) => [name, c.segment(partWord(name))])),
  };
  const outcome: Outcomes = params.get('of') === 'converters' ? 'converters' : 'clickers';
  const asked = params.get('by') ?? '';
  const breakdown = asked in breakdowns ? asked : 'utm_source';
  const select = (name: string, label: string, value: string, options: Record<string, string>) => (
    <SelectField
      label={label}
      value={value}
      options={Object.entries(options).map(([key, text]) => ({ value: key, label: text }))}
      onValue={(chosen) =>
        setParams((current) => {
          current.set(name, chosen);
          return current;
        })
      }
    />
  );
  return (
    <Card
      title={c.title}
      note={breakdown === 'clicks' ? c.clicksNote : breakdown === 'perk' ? c.perkNote : c.note}
      actions={
        <>
          {breakdown !== 'clicks' && select('of', c.of, outcome, ratesOf(breakdown))}
          {select('by', c.by, breakdown, breakdowns)}
        </>
      }
    >
      {breakdown === 'clicks' ? (
        <ChangedClicks {...periods} />
      ) : (
        <ChangedRates
          key={breakdown}
          breakdown={breakdown}
          label={breakdowns[breakdown]!}
          comparison={{ ...periods, outcome, total: countsOf(outcome, funnel) }}
        />
      )}
    </Card>
  );
}

function ChangedRates({
  breakdown,
  label,
  comparison,
}: {
  breakdown: string;
  label: string;
  comparison: Comparison;
}) {
  const names = c.columns[comparison.outcome];
  const rateName = ratesOf(breakdown)[comparison.outcome];
  const query = useQuery(changesQuery(breakdown, comparison));
  return (
    <Loaded
      query={query}
      isEmpty={(changes) => !changes?.parts.length}
      empty={<p>{query.data ? c.none : c.tooMany}</p>}
    >
      {(changes) => (
        <Table
          caption={c.title}
          rows={changes!.parts.slice(0, SHOWN_PARTS)}
          total={changes!.total}
          keyOf={({ key }) => key}
          columns={[
            {
              name: label,
              isHead: true,
              cell: ({ name, to }) => (to === null ? name : <PartName {...{ breakdown, name, to }} />),
            },
            {
              name: breakdown === 'perk' ? names.count : texts.campaigns.journeys,
              isNumber: true,
              cell: ({ count }) => formatNumber(count),
            },
            {
              name: breakdown === 'perk' ? names.countBefore : c.journeysBefore,
              isNumber: true,
              cell: ({ countBefore }) => formatNumber(countBefore),
            },
            { name: rateName, isNumber: true, cell: ({ rate }) => rate ?? texts.none },
            {
              name: c.rateBefore(rateName),
              isNumber: true,
              cell: ({ rateBefore }) => rateBefore ?? texts.none,
            },
            {
              name: c.contribution,
              isNumber: true,
              cell: ({ points, fromRate }) => (
                <>
                  <span data-points={points}>{c.points(formatPoints(points))}</span>{' '}
                  {fromRate !== null && (
                    <>
                      <br />
                      <span className="hint">{c.split(...formatTerms(points, fromRate))}</span>
                    </>
                  )}
                </>
              ),
            },
          ]}
        />
      )}
    </Loaded>
  );
}

/** Compares the clicks of each perk, including those in collections, where customers have no journey. */
function ChangedClicks({ now, before }: Pick<Comparison, 'now' | 'before'>) {
  const query = useQuery({
    queryKey: ['overview-clicks', now],
    queryFn: async () => {
      const [perks, perksBefore] = await Promise.all([loadClicksByPerk(now), loadClicksByPerk(before)]);
      return [...new Map([...perksBefore, ...perks])]
        .map(([perkId, { title }]) => {
          const { clicks = 0, byCube } = perks.get(perkId) ?? {};
          const clicksBefore = perksBefore.get(perkId)?.clicks ?? 0;
          return { perkId, title, clicks, byCube, clicksBefore, difference: clicks - clicksBefore };
        })
        .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference));
    },
    ...useLiveInterval(),
  });
  return (
    <Loaded query={query} isEmpty={(perks) => perks.length === 0} empty={<p>{t.ranked.none}</p>}>
      {(perks) => (
        <Table
          caption={c.title}
          rows={perks.slice(0, SHOWN_PARTS)}
          keyOf={({ perkId }) => perkId}
          columns={[
            { name: c.breakdowns.perk, isHead: true, cell: ({ title }) => title },
            {
              name: c.now,
              isNumber: true,
              cell: ({ perkId, clicks, byCube }) =>
                // A perk that only bots clicked has no events of people to lead to.
                byCube && clicks > 0 ? (
                  <ClickLinks {...{ perkId, byCube, range: now }} />
                ) : (
                  formatNumber(clicks)
                ),
            },
            { name: c.before, isNumber: true, cell: ({ clicksBefore }) => formatNumber(clicksBefore) },
            { name: c.difference, isNumber: true, cell: ({ difference }) => formatDifference(difference) },
          ]}
        />
      )}
    </Loaded>
  );
}
