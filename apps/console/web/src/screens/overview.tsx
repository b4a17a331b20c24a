import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { byDay, loadParts, loadRows, numberOf, sumOf, within, type Row } from '../api/analytics';
import { usePictures, type PerkPlace } from '../api/pictures';
import { Bars } from '../charts/bars';
import { TimeSeries } from '../charts/time-series';
import { dayOf, daysIn, lastDays, TIMEZONE, type Range } from '../dates';
import { formatLongDay, formatNumber, formatShare } from '../format';
import { SelectField } from '../parts/fields';
import { useLiveInterval } from '../parts/live';
import { Empty, Failed, Loaded, Loading } from '../parts/loaded';
import { PerkPicture } from '../parts/perk-picture';
import { Card, Screen } from '../parts/screen';
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

interface Figure {
  people: number;
  all: number;
  peopleBefore: number;
  days: number[];
  daysBefore: number[];
}

async function loadFigure(name: FigureName, now: Range, before: Range): Promise<Figure> {
  const figure: Figure = { people: 0, all: 0, peopleBefore: 0, days: [], daysBefore: [] };
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
  const { now, before } = lastDays(30);
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
      intro={t.intro(formatLongDay(dayOf(now[0])), formatLongDay(dayOf(now[1])))}
    >
      <Card title={t.question}>
        <Loaded query={funnel} lines={2}>
          {({ current, earlier }) => <Verdict row={current} before={earlier} />}
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
              <FigureCard key={name} name={name} figure={figures.data[name]} />
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
              series={[
                { name: t.now, values: figures.data[shown].days },
                { name: t.before, values: figures.data[shown].daysBefore, isBefore: true },
              ]}
            />
          </Card>
        </>
      )}

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
                  of={figures.data.views.all + figures.data.clicks.all + figures.data.conversions.all}
                />
              )}
            </p>
          </div>
        </Card>
      </div>
    </Screen>
  );
}

export const WithoutJourney = ({ events, of }: { events: number; of: number }) =>
  events > 0
    ? texts.counting.withoutJourney(formatNumber(events), formatShare(events, of))
    : texts.counting.noneWithoutJourney;

function Verdict({ row, before }: { row: Row | undefined; before: Row | undefined }) {
  const [journeys, clickers, converters] = ['journeys', 'clickers', 'converters'].map((name) =>
    numberOf(row, `campaign_funnel.${name}`),
  ) as [number, number, number];
  const a = t.response;
  if (journeys === 0) return <p className="headline">{a.none}</p>;
  const shareBefore = formatShare(
    numberOf(before, 'campaign_funnel.clickers'),
    numberOf(before, 'campaign_funnel.journeys'),
  );
  return (
    <p className="headline">
      {a.lead}
      <b>{a.clicked(formatNumber(clickers), formatNumber(journeys))}</b>
      {a.rate(formatShare(clickers, journeys))}
      {clickers > 0 && (
        <>
          {a.and}
          <b>{a.converted(formatNumber(converters), formatNumber(clickers))}</b>
          {a.rate(formatShare(converters, clickers))}
        </>
      )}
      {a.end}
      {shareBefore && a.before(shareBefore)}
    </p>
  );
}

function FigureCard({ name, figure }: { name: FigureName; figure: Figure }) {
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
    </Card>
  );
}

const BEST = 5;
/** The cubes of perk clicks, and the dimension that names the place of the click. */
const CLICKS = [
  { cube: 'incentive_clicks', place: 'campaign_id', name: 'campaignId' },
  { cube: 'perk_clicks', place: 'collection_id', name: 'collectionId' },
] as const;

async function loadBestPerks(range: Range) {
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
  return [...perks.values()]
    .filter(({ clicks }) => clicks > 0)
    .sort((one, other) => other.clicks - one.clicks)
    .slice(0, BEST);
}

function BestPerks({ range }: { range: Range }) {
  const query = useQuery({
    queryKey: ['best-perks', range],
    queryFn: () => loadBestPerks(range),
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
              label: title,
              value: clicks,
              picture: <PerkPicture src={pictures.get(perkId)} name={title} />,
            }))}
          />
        )}
      </Loaded>
    </Card>
  );
}
