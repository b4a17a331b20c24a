import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { byDay, loadParts, loadRows, numberOf, sumOf, within, type Row } from '../api/analytics';
import { usePictures, type PerkPlace } from '../api/pictures';
import { Bars } from '../charts/bars';
import { TimeSeries } from '../charts/time-series';
import { compareRates, contributionsOf, type Segment } from '../contributions';
import { dayOf, daysIn, rangeBefore, TIMEZONE, type Range } from '../dates';
import { exploreLink } from '../explore-link';
import { formatDifference, formatLongDay, formatNumber, formatPoints, formatShare } from '../format';
import { SelectField } from '../parts/fields';
import { useLiveInterval } from '../parts/live';
import { Empty, Failed, Loaded, Loading } from '../parts/loaded';
import { Outcome } from '../parts/outcome';
import { PerkPicture } from '../parts/perk-picture';
import { RangePicker, useRange } from '../parts/range-picker';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.overview;

type FigureName = keyof typeof t.figures;
const FIGURES = Object.keys(t.figures) as FigureName[];

/** The cubes that each figure adds up, and whether a cube distinguishes people from bots. */
const SOURCES: Record<FigureName, { cube: string; hasPeople: boolean; state?: string }[]> = {
  views: [
    { cube: 'perk_views', hasPeople: false },
    { cube: 'teaser_views', hasPeople: true },
    { cube: 'reward_views', hasPeople: true },
  ],
  clicks: [
    { cube: 'perk_clicks', hasPeople: true },
    { cube: 'incentive_clicks', hasPeople: true },
  ],
  conversions: [{ cube: 'conversions', hasPeople: true }],
  revealed: [{ cube: 'reward_links', hasPeople: false, state: 'revealed' }],
};

const CAMPAIGN_CUBES = ['teaser_views', 'reward_views', 'incentive_clicks', 'conversions'];

interface Figure {
  people: number;
  all: number;
  peopleBefore: number;
  /** People's events that campaigns tracked: those that `campaign_funnel` counts. */
  inCampaigns: number;
  days: number[];
  daysBefore: number[];
}

async function loadFigure(name: FigureName, now: Range, before: Range): Promise<Figure> {
  const figure: Figure = { people: 0, all: 0, peopleBefore: 0, inCampaigns: 0, days: [], daysBefore: [] };
  const add = (into: number[], values: number[]) => values.map((value, index) => value + (into[index] ?? 0));
  const responses = await Promise.all(
    SOURCES[name].map(({ cube, hasPeople, state }) =>
      loadParts({
        measures: [`${cube}.count`, ...(hasPeople ? [`${cube}.count_people`] : [])],
        timeDimensions: [
          { dimension: `${cube}.occurred_at`, granularity: 'day', compareDateRange: [now, before] },
        ],
        ...(state && { filters: [{ member: `${cube}.state`, operator: 'equals', values: [state] }] }),
      }),
    ),
  );
  SOURCES[name].forEach(({ cube, hasPeople }, index) => {
    const [rows = [], rowsBefore = []] = responses[index]!;
    const people = `${cube}.${hasPeople ? 'count_people' : 'count'}`;
    figure.people += sumOf(rows, people);
    if (CAMPAIGN_CUBES.includes(cube)) figure.inCampaigns += sumOf(rows, people);
    figure.all += sumOf(rows, `${cube}.count`);
    figure.peopleBefore += sumOf(rowsBefore, people);
    figure.days = add(figure.days, byDay(rows, cube, people, daysIn(now)));
    figure.daysBefore = add(figure.daysBefore, byDay(rowsBefore, cube, people, daysIn(before)));
  });
  return figure;
}

const FUNNEL = ['journeys', 'clickers', 'converters', 'events_without_journey'].map(
  (member) => `campaign_funnel.${member}`,
);

export default function Overview() {
  const { range: now } = useRange();
  const before = rangeBefore(now);
  const live = useLiveInterval();
  const [shown, setShown] = useState<FigureName>('clicks');
  const funnel = useQuery({
    queryKey: ['overview-funnel', now],
    queryFn: () =>
      loadParts({
        measures: FUNNEL,
        timeDimensions: [{ dimension: 'campaign_funnel.occurred_at', compareDateRange: [now, before] }],
      }).then(([nowRows, beforeRows]) => ({ current: nowRows?.[0], earlier: beforeRows?.[0] })),
    ...live,
  });
  const sources = useParts('utm_source', now, before);
  const figures = useQuery({
    queryKey: ['overview', now],
    queryFn: async () =>
      Object.fromEntries(
        await Promise.all(FIGURES.map(async (name) => [name, await loadFigure(name, now, before)] as const)),
      ) as Record<FigureName, Figure>,
    ...live,
  });

  return (
    <Screen
      title={texts.nav.overview}
      intro={t.intro(formatLongDay(dayOf(now[0])), formatLongDay(dayOf(now[1])), daysIn(now).length)}
      actions={<RangePicker />}
    >
      <Card title={t.question}>
        <Loaded query={funnel} lines={2}>
          {({ current, earlier }) => <Verdict row={current} before={earlier} sources={sources.data} />}
        </Loaded>
      </Card>

      {figures.data === undefined ? (
        <Card>
          {figures.isError ? (
            <Failed error={figures.error} retry={() => void figures.refetch()} />
          ) : (
            <Loading lines={6} />
          )}
        </Card>
      ) : FIGURES.every((name) => figures.data[name].all === 0 && figures.data[name].peopleBefore === 0) ? (
        <Empty title={t.emptyTitle}>
          <p>{t.emptyText}</p>
          <Link to="/integration">{t.toIntegration}</Link>
        </Empty>
      ) : (
        <>
          <div className="figures">
            {FIGURES.map((name) => (
              <FigureCard key={name} name={name} figure={figures.data[name]} range={now} />
            ))}
          </div>
          <Card
            title={t.chart}
            note={texts.counting.zone(TIMEZONE)}
            actions={
              <SelectField
                label={t.show}
                value={shown}
                options={FIGURES.map((name) => ({ value: name, label: t.figures[name] }))}
                onValue={(value) => setShown(value as FigureName)}
              />
            }
          >
            <TimeSeries
              title={t.chartOf(t.figures[shown])}
              days={daysIn(now)}
              hrefOf={(day) => exploreLink({ cube: SOURCES[shown].at(-1)!.cube, range: [day, day] })}
              series={[
                { name: t.now, values: figures.data[shown].days },
                { name: t.before, values: figures.data[shown].daysBefore, isBefore: true },
              ]}
            />
          </Card>
        </>
      )}

      <Changed now={now} before={before} />
      <div className="columns">
        <BestPerks range={now} />
        <Card title={texts.counting.title}>
          <div className="stack hint">
            <p>{texts.counting.people}</p>
            <p>{texts.counting.all}</p>
            <p>{texts.counting.servers}</p>
            <p>
              {texts.counting.distinct}{' '}
              {figures.data && funnel.data && (
                <WithoutJourney
                  events={numberOf(funnel.data.current, 'campaign_funnel.events_without_journey')}
                  of={FIGURES.reduce((sum, name) => sum + figures.data[name].inCampaigns, 0)}
                />
              )}
            </p>
          </div>
        </Card>
      </div>
    </Screen>
  );
}

const WithoutJourney = ({ events, of }: { events: number; of: number }) =>
  events > 0
    ? texts.counting.withoutJourney(events, formatShare(events, of))
    : texts.counting.noneWithoutJourney;

/** Returns the rate of all journeys in both periods. */
const totalOf = (row: Row | undefined, before: Row | undefined) => ({
  journeys: numberOf(row, 'campaign_funnel.journeys'),
  clickers: numberOf(row, 'campaign_funnel.clickers'),
  journeysBefore: numberOf(before, 'campaign_funnel.journeys'),
  clickersBefore: numberOf(before, 'campaign_funnel.clickers'),
});

interface VerdictProps {
  row: Row | undefined;
  before: Row | undefined;
  sources: Segment[] | undefined;
}

function Verdict({ row, before, sources }: VerdictProps) {
  const a = t.response;
  const total = totalOf(row, before);
  const { journeys, clickers, journeysBefore, clickersBefore } = total;
  if (journeys === 0) return <p className="headline">{a.none}</p>;
  const verdict = compareRates(total);
  const rates = [formatShare(clickers, journeys)!, formatShare(clickersBefore, journeysBefore)!] as const;
  const change = clickers / journeys - clickersBefore / journeysBefore;
  // The largest contribution in the direction of the change.
  const cause = contributionsOf(sources ?? []).find(({ points }) => points * change > 0);
  return (
    <div className="stack">
      <p className="headline">
        <Outcome
          journeys={journeys}
          clickers={clickers}
          converters={numberOf(row, 'campaign_funnel.converters')}
        />
      </p>
      <p data-verdict={verdict ?? 'none'}>
        {verdict === null
          ? a.noneBefore
          : verdict === 'same'
            ? a.same(...rates)
            : `${a[verdict](...rates)}${cause ? a.mostly('source', cause.name, t.changed.points(formatPoints(cause.points))) : '.'}`}
      </p>
    </div>
  );
}

type Way = keyof typeof t.changed.ways;

/** Loads the click rates of both periods by a dimension of the funnel. */
function useParts(dimension: Exclude<Way, 'perk'>, now: Range, before: Range) {
  return useQuery({
    queryKey: ['overview-parts', dimension, now],
    queryFn: async () => {
      const member = `campaign_funnel.${dimension}`;
      const [rows = [], rowsBefore = []] = await loadParts({
        measures: ['campaign_funnel.journeys', 'campaign_funnel.clickers'],
        dimensions: [member],
        timeDimensions: [{ dimension: 'campaign_funnel.occurred_at', compareDateRange: [now, before] }],
      });
      const [byName, byNameBefore] = [rows, rowsBefore].map(
        (part) => new Map(part.map((row) => [row[member], row])),
      ) as [Map<Row[string] | undefined, Row>, Map<Row[string] | undefined, Row>];
      return [...new Set([...byName.keys(), ...byNameBefore.keys()])].map((value): Segment => ({
        name: String(value ?? texts.explore.noValue),
        ...totalOf(byName.get(value), byNameBefore.get(value)),
      }));
    },
    ...useLiveInterval(),
  });
}

function Changed({ now, before }: { now: Range; before: Range }) {
  const [params, setParams] = useSearchParams();
  const c = t.changed;
  const asked = params.get('by') ?? '';
  const way = asked in c.ways ? (asked as Way) : 'utm_source';
  return (
    <Card
      title={c.title}
      note={way === 'perk' ? c.perkNote : `${texts.counting.distinct} ${c.note}`}
      actions={
        <SelectField
          label={c.by}
          value={way}
          options={Object.entries(c.ways).map(([value, label]) => ({ value, label }))}
          onValue={(value) =>
            setParams(
              (current) => {
                current.set('by', value);
                return current;
              },
              { replace: true },
            )
          }
        />
      }
    >
      {way === 'perk' ? (
        <ChangedPerks now={now} before={before} />
      ) : (
        <ChangedRates key={way} dimension={way} now={now} before={before} />
      )}
    </Card>
  );
}

const SHOWN_PARTS = 12;

function ChangedRates({
  dimension,
  now,
  before,
}: {
  dimension: Exclude<Way, 'perk'>;
  now: Range;
  before: Range;
}) {
  const c = t.changed;
  const query = useParts(dimension, now, before);
  const rate = (part: number, whole: number) => formatShare(part, whole) ?? texts.none;
  return (
    <Loaded
      query={query}
      isEmpty={(segments) => contributionsOf(segments).length === 0}
      empty={<p>{c.none}</p>}
    >
      {(segments) => (
        <Table
          caption={c.title}
          rows={contributionsOf(segments).slice(0, SHOWN_PARTS)}
          keyOf={({ name }) => name}
          columns={[
            {
              name: c.ways[dimension],
              isHead: true,
              cell: ({ name }) => (
                <Link
                  to={exploreLink({
                    cube: 'campaign_funnel',
                    measures: ['journeys', 'clickers', 'click_rate'],
                    where: [{ member: dimension, value: name === texts.explore.noValue ? null : name }],
                    steps: 'day',
                    range: now,
                  })}
                >
                  {name}
                </Link>
              ),
            },
            {
              name: texts.campaigns.journeys,
              isNumber: true,
              cell: ({ journeys }) => formatNumber(journeys),
            },
            { name: c.rateNow, isNumber: true, cell: (row) => rate(row.clickers, row.journeys) },
            {
              name: c.rateBefore,
              isNumber: true,
              cell: (row) => rate(row.clickersBefore, row.journeysBefore),
            },
            {
              name: c.contribution,
              isNumber: true,
              cell: ({ points }) => <span data-points={points}>{c.points(formatPoints(points))}</span>,
            },
          ]}
        />
      )}
    </Loaded>
  );
}

function ChangedPerks({ now, before }: { now: Range; before: Range }) {
  const c = t.changed;
  const query = useQuery({
    queryKey: ['overview-perks', now],
    queryFn: async () => {
      const [perks, perksBefore] = await Promise.all([loadClicksByPerk(now), loadClicksByPerk(before)]);
      return [...new Map([...perksBefore, ...perks])]
        .map(([perkId, { title }]) => {
          const [clicks, clicksBefore] = [
            perks.get(perkId)?.clicks ?? 0,
            perksBefore.get(perkId)?.clicks ?? 0,
          ];
          return { perkId, title, clicks, clicksBefore, difference: clicks - clicksBefore };
        })
        .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference));
    },
    ...useLiveInterval(),
  });
  return (
    <Loaded query={query} isEmpty={(perks) => perks.length === 0} empty={<p>{t.noBest}</p>}>
      {(perks) => (
        <Table
          caption={c.title}
          rows={perks.slice(0, SHOWN_PARTS)}
          keyOf={({ perkId }) => perkId}
          columns={[
            {
              name: c.ways.perk,
              isHead: true,
              cell: ({ perkId, title }) => <Link to={perkLink(perkId, now)}>{title}</Link>,
            },
            { name: c.now, isNumber: true, cell: ({ clicks }) => formatNumber(clicks) },
            { name: c.before, isNumber: true, cell: ({ clicksBefore }) => formatNumber(clicksBefore) },
            { name: c.difference, isNumber: true, cell: ({ difference }) => formatDifference(difference) },
          ]}
        />
      )}
    </Loaded>
  );
}

const perkLink = (perkId: string, range: Range) =>
  exploreLink({
    cube: 'incentive_clicks',
    measures: ['count', 'count_people'],
    dimensions: ['campaign_name'],
    where: [{ member: 'perk_id', value: perkId }],
    steps: 'day',
    range,
  });

function FigureCard({ name, figure, range }: { name: FigureName; figure: Figure; range: Range }) {
  const change = figure.people - figure.peopleBefore;
  return (
    <Card className="figure">
      <h2>{t.figures[name]}</h2>
      <p className="figure-value" data-figure={name}>
        {formatNumber(figure.people)}
      </p>
      <p className={change > 0 ? 'change-up' : change < 0 ? 'change-down' : undefined}>
        {change === 0
          ? t.unchanged
          : figure.peopleBefore === 0
            ? t.fromNothing
            : t.change(`${change > 0 ? '+' : '−'}${formatShare(Math.abs(change), figure.peopleBefore)}`)}
      </p>
      <p className="hint">
        <span data-figure={`${name}-all`}>
          {figure.all === figure.people ? t.sameForAll : t.all(formatNumber(figure.all))}
        </span>
        {'. '}
        {t.notes[name]}.
      </p>
      <p className="actions">
        {SOURCES[name].map(({ cube, state }) => (
          <Link
            key={cube}
            to={exploreLink({
              cube,
              steps: 'day',
              where: state ? [{ member: 'state', value: state }] : [],
              range,
            })}
          >
            {t.cubes[cube]}
          </Link>
        ))}
      </p>
    </Card>
  );
}

const BEST = 5;
/** The cubes of perk clicks, and the dimension that names the place of the click. */
const CLICKS = [
  { cube: 'incentive_clicks', place: 'campaign_id', name: 'campaignId' },
  { cube: 'perk_clicks', place: 'collection_id', name: 'collectionId' },
] as const;

async function loadClicksByPerk(range: Range) {
  const responses = await Promise.all(
    CLICKS.map(({ cube, place }) =>
      loadRows({
        measures: [`${cube}.count_people`],
        dimensions: [`${cube}.perk_id`, `${cube}.perk_title`, `${cube}.${place}`],
        ...within(cube, range),
        order: { [`${cube}.count_people`]: 'desc' },
        limit: 1_000,
      }),
    ),
  );
  const perks = new Map<string, PerkPlace & { title: string; clicks: number }>();
  CLICKS.forEach(({ cube, place, name }, index) => {
    for (const row of responses[index]!) {
      const perkId = String(row[`${cube}.perk_id`]);
      const known = perks.get(perkId) ?? { perkId, title: perkId, clicks: 0 };
      perks.set(perkId, {
        [name]: row[`${cube}.${place}`] ?? undefined,
        ...known,
        title: String(row[`${cube}.perk_title`] ?? known.title),
        clicks: known.clicks + numberOf(row, `${cube}.count_people`),
      });
    }
  });
  return perks;
}

function BestPerks({ range }: { range: Range }) {
  const query = useQuery({
    queryKey: ['best-perks', range],
    queryFn: async () =>
      [...(await loadClicksByPerk(range)).values()]
        .filter(({ clicks }) => clicks > 0)
        .sort((one, other) => other.clicks - one.clicks)
        .slice(0, BEST),
    ...useLiveInterval(),
  });
  const pictures = usePictures(
    (query.data ?? []).map(({ perkId, campaignId, collectionId }) => ({ perkId, campaignId, collectionId })),
  );
  return (
    <Card title={t.best} note={t.bestNote}>
      <Loaded query={query} isEmpty={(data) => data.length === 0} empty={<p>{t.noBest}</p>}>
        {(best) => (
          <Bars
            label={t.best}
            bars={best.map(({ perkId, title, clicks }) => ({
              key: perkId,
              label: <Link to={perkLink(perkId, range)}>{title}</Link>,
              value: clicks,
              picture: <PerkPicture src={pictures.get(perkId)} name={title} />,
            }))}
          />
        )}
      </Loaded>
    </Card>
  );
}
