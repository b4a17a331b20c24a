import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { byDay, loadFunnel, loadParts, numberOf, sumOf } from '../api/analytics';
import { useCampaigns } from '../api/campaigns';
import { useCollectionIds } from '../api/collections';
import { usePools } from '../api/pools';
import { useSession } from '../api/session';
import { TimeSeries } from '../charts/time-series';
import { daysIn, rangeBefore, type Range } from '../dates';
import { exploreLink } from '../explore-link';
import { formatNumber, formatRange } from '../format';
import { VersusBefore } from '../parts/change';
import { CopyButton } from '../parts/copy-button';
import { CsvButton } from '../parts/csv-button';
import { SelectField } from '../parts/fields';
import { useLiveInterval } from '../parts/live';
import { Empty, Failed, Loaded, Loading } from '../parts/loaded';
import { RangePicker, useRange } from '../parts/range-picker';
import { Card, Screen } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { texts } from '../texts';
import { Changed, Verdict } from './changes';
import { NothingTracked } from './nothing-tracked';
import { PerkClicks } from './perk-clicks';
import { ResultsByStep } from './results-by-step';

const t = texts.overview;

type FigureName = keyof typeof t.figures;
const FIGURES = Object.keys(t.figures) as FigureName[];

/** The cubes that each figure adds up, and whether a cube distinguishes people from bots. */
const SOURCES: Record<FigureName, { cube: string; hasPeople: boolean; state?: string }[]> = {
  made: [{ cube: 'reward_links', hasPeople: false, state: 'generated' }],
  views: [
    { cube: 'perk_views', hasPeople: true },
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

/** What a new account does first. A step leads on only once the account has what the step needs. */
function FirstSteps() {
  const { accountName } = useSession();
  const needs = {
    perks: useCollectionIds().data,
    campaigns: useCampaigns().data,
    giftCards: usePools().data,
  };
  const missing = (Object.keys(needs) as (keyof typeof needs)[])
    .filter((name) => needs[name]?.length === 0)
    .map((name) => t.firstStepNeeds[name]);
  const step = (name: keyof typeof needs, to: string) => (
    <li>
      {needs[name]?.length === 0 ? (
        `${t.firstSteps[name]}: ${t.notYet(t.firstStepNeeds[name])}`
      ) : (
        <Link to={to}>{t.firstSteps[name]}</Link>
      )}
    </li>
  );
  return (
    <>
      <ol>
        {step('perks', '/perks')}
        <li>
          <Link to="/documentation">{t.firstSteps.documentation}</Link>
        </li>
        {step('campaigns', '/campaigns')}
        {step('giftCards', '/gift-cards')}
      </ol>
      {missing.length > 0 && (
        <>
          <p>{t.askOperator}</p>
          <p>
            <q>{t.toOperator(accountName, missing)}</q>
          </p>
          <CopyButton text={t.toOperator(accountName, missing)} />
        </>
      )}
    </>
  );
}

export default function Overview() {
  const { range: now } = useRange();
  const before = rangeBefore(now);
  const live = useLiveInterval();
  const { valueOf, set } = useSearchFilters();
  const shown = FIGURES.find((name) => name === valueOf('show')) ?? 'clicks';
  const funnel = useQuery({
    queryKey: ['overview-funnel', now],
    queryFn: () => loadFunnel([now, before]),
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

  const intro = t.intro(formatRange(now), formatRange(before));
  const isEmpty =
    figures.data !== undefined &&
    FIGURES.every((name) => figures.data[name].all === 0 && figures.data[name].peopleBefore === 0);
  if (isEmpty)
    return (
      <Screen title={texts.nav.overview} intro={intro} actions={<RangePicker />}>
        <NothingTracked>
          <Empty title={t.emptyTitle}>
            <p>{t.emptyText}</p>
            <FirstSteps />
          </Empty>
        </NothingTracked>
      </Screen>
    );
  return (
    <Screen title={texts.nav.overview} intro={intro} actions={<RangePicker />}>
      <Card title={t.question}>
        <Loaded query={funnel} lines={2}>
          {(rows) => <Verdict funnel={rows} {...{ now, before }} />}
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
      ) : (
        <>
          <div className="figures">
            {FIGURES.map((name) => (
              <FigureCard key={name} name={name} figure={figures.data[name]} range={now} />
            ))}
          </div>
          {funnel.data && <ResultsByStep funnel={funnel.data} {...{ now, before }} />}
          <Card
            title={t.chart}
            actions={
              <>
                <SelectField
                  label={t.show}
                  value={shown}
                  options={FIGURES.map((name) => ({ value: name, label: t.figures[name] }))}
                  onValue={(value) => set('show', value)}
                />
                <CsvButton
                  label={texts.campaign.csvOfDays}
                  name="days.csv"
                  head={[texts.day, ...FIGURES.map((name) => t.figures[name])]}
                  rows={daysIn(now).map((day, index) => [
                    day,
                    ...FIGURES.map((name) => figures.data[name].days[index]!),
                  ])}
                />
              </>
            }
          >
            <TimeSeries
              title={t.chartOf(t.figures[shown])}
              days={daysIn(now)}
              // The figures of that day: some add up several cubes, which Explore shows one by one.
              hrefOf={(day) => `/?from=${day}&to=${day}&show=${shown}`}
              series={[
                { name: t.now, values: figures.data[shown].days },
                { name: t.before, values: figures.data[shown].daysBefore, isBefore: true },
              ]}
            />
          </Card>
        </>
      )}

      {funnel.data && <Changed funnel={funnel.data} {...{ now, before }} />}
      <PerkClicks range={now} />
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
    </Screen>
  );
}

const WithoutJourney = ({ events, of }: { events: number; of: number }) =>
  events > 0 ? texts.counting.withoutJourney(events, of) : texts.counting.noneWithoutJourney;

function FigureCard({ name, figure, range }: { name: FigureName; figure: Figure; range: Range }) {
  const { people, peopleBefore } = figure;
  return (
    <Card className="figure">
      <h2>{t.figures[name]}</h2>
      <p className="figure-value" data-figure={name}>
        {formatNumber(figure.people)}
      </p>
      <p>
        {/* Making more links costs more, which is neither good nor bad. */}
        <VersusBefore
          count={people}
          before={peopleBefore}
          periods={[range, rangeBefore(range)]}
          isGood={name !== 'made'}
        />
      </p>
      <p className="hint">
        {SOURCES[name].some(({ hasPeople }) => hasPeople) && (
          <>
            <span data-figure={`${name}-all`}>
              {figure.all === figure.people ? t.sameForAll : t.all(formatNumber(figure.all))}
            </span>
            {'. '}
          </>
        )}
        {t.notes[name]}.
      </p>
      <p className="actions">
        {SOURCES[name].map(({ cube, hasPeople, state }) => (
          <Link
            key={cube}
            to={exploreLink({
              cube,
              measures: hasPeople ? ['count_people', 'count'] : ['count'],
              steps: 'day',
              where: state ? [{ member: 'state', value: state }] : [],
              range,
            })}
          >
            {t.cubes[state ?? cube]}
          </Link>
        ))}
      </p>
    </Card>
  );
}
