import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useNavigate, useParams } from 'react-router';
import {
  byDay,
  COMPARED,
  comparedJourneys,
  loadFunnel,
  loadParts,
  loadRows,
  numberOf,
  ofCampaign,
  sumOf,
  within,
  type Query,
  type Row,
} from '../api/analytics';
import { ApiError } from '../api/http';
import { perkway, responseOf } from '../api/perkway';
import { usePerkInfo } from '../api/perk-info';
import type { Campaign } from '../api/types';
import { Funnel } from '../charts/funnel';
import { TimeSeries } from '../charts/time-series';
import { daysIn, rangeBefore, type Range } from '../dates';
import { exploreLink, type Condition } from '../explore-link';
import { formatNumber, formatRange, formatShare } from '../format';
import { KEEP_FOCUS } from '../keep-focus';
import { VersusBefore } from '../parts/change';
import { SelectField } from '../parts/fields';
import { CsvButton } from '../parts/csv-button';
import { formatSums, sortBySum, valuesBy, type Money } from '../money';
import { useLiveInterval } from '../parts/live';
import { lazy } from '../parts/lazy';
import { Empty, Failed, Loaded, Loading } from '../parts/loaded';
import { PerkPicture } from '../parts/perk-picture';
import { RangePicker, useRange } from '../parts/range-picker';
import { Card, Screen } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { Table } from '../parts/table';
import { Tabs } from '../parts/tabs';
import { PartName, partWord } from '../parts/verdict';
import { texts } from '../texts';
import { Changed, Verdict } from './changes';
import NotFound from './not-found';
import { NothingTracked } from './nothing-tracked';
import { ResultsByStep } from './results-by-step';

const t = texts.campaign;
const F = 'campaign_funnel';
const STEPS = Object.keys(texts.funnel.steps) as (keyof typeof texts.funnel.steps)[];
const FreezeReport = lazy(() => import('./freeze-report'), null);
const CampaignSend = lazy(() => import('./campaign-send'), <Loading lines={8} />);

interface CampaignPerk {
  perkId: string;
  title: string;
  /** Of people, by the teasers and rewards that name the perk. */
  views: number;
  /** Journeys. */
  clickers: number;
  converters: number;
  /** Clicks of people, and with bots. */
  people: number;
  everything: number;
  /** Clicks of people in the period before. */
  peopleBefore: number;
  value?: Money;
}

/** What the links of a mailing say about it, set on the tab Send. */
const UTM_PARAMETERS = ['utm_source', 'utm_campaign', 'utm_content'] as const;
type UtmParameter = (typeof UTM_PARAMETERS)[number];
/** The column with the journeys that clicked in the period before. */
const CLICKERS_BEFORE = 'clickers_before';

/** Sums the values of people's conversions per perk or UTM parameter; the key '' has those without one. */
async function loadValues(id: string, range: Range, dimension: 'perk_id' | UtmParameter) {
  const rows = await loadRows({
    measures: ['conversions.value'],
    dimensions: [`conversions.${dimension}`, 'conversions.currency'],
    segments: ['conversions.people'],
    ...within('conversions', range),
    filters: ofCampaign('conversions', id),
    limit: 10_000,
  });
  return valuesBy(`conversions.${dimension}`, rows);
}

/** Counts what became of each perk; perks of the campaign that nobody clicked are part of it, so that the worst show. */
async function loadPerks({ id, incentives }: Campaign, range: Range): Promise<CampaignPerk[]> {
  const load = (cube: string, measures: string[], dates = range) =>
    loadRows({
      measures: measures.map((measure) => `${cube}.${measure}`),
      dimensions: [`${cube}.perk_id`, `${cube}.perk_title`],
      ...within(cube, dates),
      filters: [...ofCampaign(cube, id), { member: `${cube}.perk_id`, operator: 'set' }],
      limit: 1_000,
    }).then((rows) => new Map(rows.map((row) => [String(row[`${cube}.perk_id`]), row])));
  const [journeys, clicks, clicksBefore, teasers, rewards, values, { incentives: offered }] =
    await Promise.all([
      load(F, ['clickers', 'converters']),
      load('incentive_clicks', ['count_people', 'count']),
      load('incentive_clicks', ['count_people'], rangeBefore(range)),
      load('teaser_views', ['count_people']),
      load('reward_views', ['count_people']),
      loadValues(id, range, 'perk_id'),
      responseOf(perkway.boost.getTeasers({ campaignId: id })),
    ]);
  const titles = new Map(offered.map(({ perkId, title }) => [perkId, title]));
  return [
    ...new Set([
      ...incentives,
      ...[journeys, clicks, clicksBefore, teasers, rewards, values].flatMap((rows) =>
        [...rows.keys()].filter(Boolean),
      ),
    ]),
  ]
    .map((perkId) => {
      const [row, clicked, clickedBefore, teaser, reward] = [
        journeys,
        clicks,
        clicksBefore,
        teasers,
        rewards,
      ].map((rows) => rows.get(perkId));
      return {
        perkId,
        title: String(
          row?.[`${F}.perk_title`] ??
            clicked?.['incentive_clicks.perk_title'] ??
            clickedBefore?.['incentive_clicks.perk_title'] ??
            titles.get(perkId) ??
            teaser?.['teaser_views.perk_title'] ??
            reward?.['reward_views.perk_title'] ??
            perkId,
        ),
        views: numberOf(teaser, 'teaser_views.count_people') + numberOf(reward, 'reward_views.count_people'),
        clickers: numberOf(row, `${F}.clickers`),
        converters: numberOf(row, `${F}.converters`),
        people: numberOf(clicked, 'incentive_clicks.count_people'),
        everything: numberOf(clicked, 'incentive_clicks.count'),
        peopleBefore: numberOf(clickedBefore, 'incentive_clicks.count_people'),
        value: values.get(perkId),
      };
    })
    .sort((one, other) => other.people - one.people);
}

/** Counts the journeys of each value of a UTM parameter; those that only had journeys before are part of it with 0. */
async function loadByUtm(
  id: string,
  range: Range,
  parameter: UtmParameter,
): Promise<{ rows: Row[]; values: Map<string, Money> }> {
  const member = `${F}.${parameter}`;
  const funnel = loadParts({
    measures: [...COMPARED, 'clickers', 'converters', 'gift_recipients'].map((name) => `${F}.${name}`),
    dimensions: [member],
    timeDimensions: [{ dimension: `${F}.occurred_at`, compareDateRange: [range, rangeBefore(range)] }],
    filters: ofCampaign(F, id),
    order: { [`${F}.journeys`]: 'desc' },
    limit: 200,
  });
  const [[rows = [], rowsBefore = []], values] = await Promise.all([
    funnel,
    loadValues(id, range, parameter),
  ]);
  const now = new Set(rows.map((row) => row[member] ?? null));
  const earlier = new Map(rowsBefore.map((row) => [row[member] ?? null, row]));
  const others = new Set([...earlier.keys(), ...[...values.keys()].map((key) => key || null)]);
  return {
    rows: [
      ...rows,
      ...[...others].filter((name) => !now.has(name)).map((name): Row => ({ [member]: name })),
    ].map((row) => ({
      ...row,
      [CLICKERS_BEFORE]: numberOf(earlier.get(row[member] ?? null), `${F}.clickers`),
    })),
    values,
  };
}

/** The events behind each step of the funnel. */
const BREAKDOWNS: Record<
  (typeof STEPS)[number],
  { cube: string; measures: string[]; dimensions?: string[]; where?: Condition[] }
> = {
  journeys: { cube: F, measures: ['journeys', 'clickers', 'converters'], dimensions: ['utm_source'] },
  teaser_viewers: {
    cube: 'teaser_views',
    measures: ['journeys', 'count_people'],
    dimensions: ['utm_source'],
  },
  reward_viewers: {
    cube: 'reward_views',
    measures: ['journeys', 'count_people'],
    dimensions: ['perk_title'],
  },
  clickers: { cube: 'incentive_clicks', measures: ['journeys', 'count_people'], dimensions: ['perk_title'] },
  converters: { cube: 'conversions', measures: ['journeys', 'count_people'], dimensions: ['perk_title'] },
  gift_recipients: { cube: 'reward_links', measures: ['journeys', 'count'], dimensions: ['state'] },
  gift_openers: {
    cube: 'reward_links',
    measures: ['journeys', 'count'],
    dimensions: ['created_by'],
    where: [{ member: 'state', value: 'revealed' }],
  },
};

const { journeys: JOURNEYS, clickers: CLICKERS, converters: CONVERTERS } = texts.campaigns;

const CUBES = {
  clicks: ['incentive_clicks'],
  views: ['teaser_views', 'reward_views'],
  conversions: ['conversions'],
} as const;
type SeriesName = keyof typeof CUBES;
type Values = Record<SeriesName, number[]>;
const SERIES = Object.keys(CUBES) as SeriesName[];

export default function CampaignScreen() {
  const { campaignId = '' } = useParams();
  const campaign = useQuery({
    queryKey: ['campaign', campaignId],
    queryFn: ({ signal }) => responseOf(perkway.boost.getCampaign({ campaignId }, { signal })),
  });
  if (campaign.data) return <Found campaign={campaign.data} />;
  if (campaign.error instanceof ApiError && [400, 404].includes(campaign.error.status)) return <NotFound />;
  return (
    <Screen title={texts.nav.campaigns}>
      {campaign.isError ? (
        <Failed error={campaign.error} retry={() => void campaign.refetch()} />
      ) : (
        <Loading lines={8} />
      )}
    </Screen>
  );
}

const TABS = ['results', 'send'];

const recipientsIn = (row: Row | undefined) => numberOf(row, `${F}.gift_recipients`);

const useFunnel = (id: string, range: Range) =>
  useQuery({
    queryKey: ['campaign-funnel', id, range],
    queryFn: () => loadFunnel([range, rangeBefore(range)], id),
    ...useLiveInterval(),
  });

function Found({ campaign }: { campaign: Campaign }) {
  const { id } = campaign;
  const { tab = 'results' } = useParams();
  const navigate = useNavigate();
  const { range } = useRange();
  const { search } = useLocation();
  const [isFreezing, setFreezing] = useState(false);
  const path = `/campaigns/${encodeURIComponent(id)}`;

  return (
    <Screen
      title={campaign.name}
      back={{ to: `/campaigns${search}`, label: texts.nav.campaigns }}
      intro={
        tab === 'send'
          ? texts.send.intro
          : texts.overview.intro(formatRange(range), formatRange(rangeBefore(range)))
      }
      actions={
        tab !== 'send' && (
          <>
            <RangePicker />
            <button type="button" className="button" onClick={() => setFreezing(true)}>
              {t.freeze}
            </button>
          </>
        )
      }
    >
      <Tabs
        label={campaign.name}
        selected={TABS.includes(tab) ? tab : 'results'}
        onSelect={(next) =>
          void navigate(`${next === 'results' ? path : `${path}/${next}`}${search}`, { state: KEEP_FOCUS })
        }
        tabs={[
          { id: 'results', label: t.results, content: () => <Results campaign={campaign} range={range} /> },
          {
            id: 'send',
            label: texts.send.send,
            content: () => <CampaignSend campaign={campaign} />,
          },
        ]}
      />
      {isFreezing && <FreezeReport campaign={campaign} range={range} onClose={() => setFreezing(false)} />}
    </Screen>
  );
}

function Results({ campaign, range }: { campaign: Campaign; range: Range }) {
  const { id } = campaign;
  const { search } = useLocation();
  const { valueOf, set } = useSearchFilters();
  const shown = SERIES.find((name) => name === valueOf('show')) ?? 'clicks';
  const funnel = useFunnel(id, range);
  const links = useLinkCounts(id, range);
  const before = rangeBefore(range);
  const current = funnel.data?.current;
  const journeys = numberOf(current, `${F}.journeys`);
  const withoutJourney = numberOf(current, `${F}.events_without_journey`);
  const days = useQuery({
    queryKey: ['campaign-days', id, range],
    queryFn: async () => {
      const responses = await Promise.all(
        Object.values(CUBES)
          .flat()
          .map(async (cube) => {
            const parts = await loadParts({
              measures: [`${cube}.count_people`],
              timeDimensions: [
                {
                  dimension: `${cube}.occurred_at`,
                  granularity: 'day',
                  compareDateRange: [range, before],
                },
              ],
              filters: ofCampaign(cube, id),
            });
            return [cube, parts] as const;
          }),
      );
      const parts = new Map<string, Row[][]>(responses);
      /** The sum of the cubes for each day of this period, or the one before. */
      const valuesOf = (name: SeriesName, period: 0 | 1) => {
        const days = daysIn(period === 0 ? range : before);
        const each = CUBES[name].map((cube) =>
          byDay(parts.get(cube)?.[period] ?? [], cube, `${cube}.count_people`, days),
        );
        return days.map((_, day) => each.reduce((sum, values) => sum + values[day]!, 0));
      };
      return {
        all: daysIn(range),
        now: Object.fromEntries(SERIES.map((name) => [name, valuesOf(name, 0)])) as Values,
        before: Object.fromEntries(SERIES.map((name) => [name, valuesOf(name, 1)])) as Values,
        events: responses.reduce((sum, [cube, [rows = []]]) => sum + sumOf(rows, `${cube}.count_people`), 0),
      };
    },
    ...useLiveInterval(),
  });

  const recipients = recipientsIn(current);
  const { made = 0, madeWithoutJourney = 0 } = (funnel.data && links.data) ?? {};
  if (funnel.data && links.data?.any === 0 && journeys === 0 && withoutJourney === 0)
    return (
      <NothingTracked campaignId={id}>
        <Empty title={t.neverTitle}>
          <p>{t.neverText}</p>
          <Link className="button" to={`/campaigns/${encodeURIComponent(id)}/send${search}`}>
            {t.toSend}
          </Link>
        </Empty>
      </NothingTracked>
    );
  return (
    <>
      <Card title={texts.overview.question}>
        <Loaded query={funnel} lines={2}>
          {(rows) => <Verdict funnel={rows} {...{ now: range, before, campaignId: id }} />}
        </Loaded>
      </Card>
      <Card
        title={t.funnel}
        note={
          <>
            {texts.counting.distinct}{' '}
            {funnel.data &&
              days.data &&
              (withoutJourney > 0
                ? texts.counting.withoutJourney(withoutJourney, days.data.events)
                : texts.counting.noneWithoutJourney)}{' '}
            {recipients > 0 && t.anyContact(recipients)}{' '}
            {madeWithoutJourney > 0 &&
              t.linksWithoutJourney(madeWithoutJourney, formatShare(madeWithoutJourney, made))}{' '}
            {made > madeWithoutJourney && t.linksOfJourneys(made - madeWithoutJourney, recipients)}
          </>
        }
      >
        <Loaded query={funnel} lines={7}>
          {() => (
            <Funnel
              label={t.funnel}
              total={journeys}
              steps={STEPS.map((step) => ({
                key: step,
                name: texts.funnel.steps[step],
                to: exploreLink({
                  ...BREAKDOWNS[step],
                  campaignId: id,
                  range,
                }),
                value: numberOf(current, `${F}.${step}`),
              }))}
            />
          )}
        </Loaded>
      </Card>
      {funnel.data && <ResultsByStep funnel={funnel.data} {...{ now: range, before, campaignId: id }} />}
      <Card
        title={t.byDay}
        note={texts.counting.people}
        actions={
          <>
            <SelectField
              label={texts.overview.show}
              value={shown}
              options={SERIES.map((name) => ({ value: name, label: t[name] }))}
              onValue={(name) => set('show', name)}
            />
            {days.data && (
              <CsvButton
                label={t.csvOfDays}
                name={`${id}-days.csv`}
                head={[texts.day, ...SERIES.map((name) => t[name])]}
                rows={days.data.all.map((day, index) => [
                  day,
                  ...SERIES.map((name) => days.data.now[name][index]!),
                ])}
              />
            )}
          </>
        }
      >
        <Loaded query={days} lines={6}>
          {({ all, now, before }) => (
            <TimeSeries
              title={`${campaign.name}: ${t[shown]}`}
              days={all}
              // Views add up two cubes, which Explore shows one by one.
              hrefOf={(day) =>
                shown === 'views'
                  ? `/campaigns/${encodeURIComponent(id)}?from=${day}&to=${day}&show=views`
                  : exploreLink({
                      cube: CUBES[shown][0],
                      measures: ['count_people', 'count'],
                      dimensions: ['utm_source'],
                      campaignId: id,
                      range: [day, day],
                    })
              }
              series={[
                { name: texts.overview.now, values: now[shown] },
                { name: texts.overview.before, values: before[shown], isBefore: true },
              ]}
            />
          )}
        </Loaded>
      </Card>
      {funnel.data && <Changed funnel={funnel.data} {...{ now: range, before, campaignId: id }} />}
      <ByPerk campaign={campaign} range={range} total={comparedJourneys(current)} />
      <ByUtm id={id} range={range} total={journeys} />
    </>
  );
}

interface LinkCounts {
  /** Links that reached any state in the dates. */
  any: number;
  made: number;
  madeWithoutJourney: number;
}

/** Links count here whether they have a journey or not; the funnel counts journeys, so it leaves out those without. */
const useLinkCounts = (id: string, range: Range) =>
  useQuery({
    queryKey: ['campaign-links', id, range],
    queryFn: async (): Promise<LinkCounts> => {
      const load = (more: Query['filters'] = []) =>
        loadRows({
          measures: ['reward_links.count'],
          dimensions: ['reward_links.state'],
          ...within('reward_links', range),
          filters: [...ofCampaign('reward_links', id), ...more],
        });
      const [all, withoutJourney] = await Promise.all([
        load(),
        load([{ member: 'reward_links.journey_id', operator: 'notSet' }]),
      ]);
      const madeOf = (rows: Row[]) =>
        numberOf(
          rows.find((row) => row['reward_links.state'] === 'generated'),
          'reward_links.count',
        );
      return {
        any: sumOf(all, 'reward_links.count'),
        made: madeOf(all),
        madeWithoutJourney: madeOf(withoutJourney),
      };
    },
    ...useLiveInterval(),
  });

const shareOf = (part: number, whole: number) => formatShare(part, whole) ?? texts.none;
const Share = ({ part, whole }: { part: number; whole: number }) => (
  <>
    {shareOf(part, whole)} <span className="hint">{t.of(formatNumber(part), formatNumber(whole))}</span>
  </>
);

/** The second line of a count: how it differs from that of the period before. */
const Before = ({ range, ...counts }: { count: number; before: number; range: Range }) =>
  counts.count + counts.before > 0 && (
    <>
      {' '}
      <br />
      <span className="hint">
        <VersusBefore {...counts} periods={[range, rangeBefore(range)]} isGood />
      </span>
    </>
  );

function ByPerk({ campaign, range, total }: { campaign: Campaign; range: Range; total: number }) {
  const { id } = campaign;
  const query = useQuery({
    queryKey: ['campaign-perks', id, range],
    queryFn: () => loadPerks(campaign, range),
    ...useLiveInterval(),
  });
  const info = usePerkInfo((query.data ?? []).map(({ perkId }) => ({ perkId, campaignId: id })));
  const { valueOf, set } = useSearchFilters();
  const isLeastFirst = valueOf('perks') === t.clicks;
  const toOf = ({ perkId }: CampaignPerk) =>
    exploreLink({
      cube: 'incentive_clicks',
      measures: ['count', 'count_people'],
      dimensions: ['utm_source'],
      campaignId: id,
      where: [{ member: 'perk_id', value: perkId }],
      steps: 'day',
      range,
    });
  return (
    <Card
      title={t.byPerk}
      note={t.perkNote}
      actions={
        query.data && (
          <>
            <button
              type="button"
              className="button small"
              onClick={() => set('perks', isLeastFirst ? '' : t.clicks)}
            >
              {isLeastFirst ? t.mostFirst : t.leastFirst}
            </button>
            <CsvButton
              label={t.csvOfPerks}
              name={`${id}-perks.csv`}
              head={[t.perk, t.perkId, t.views, t.clicks, t.allClicks, CLICKERS, CONVERTERS, t.value]}
              rows={query.data.map(
                ({ perkId, title, views, people, everything, clickers, converters, value }) => [
                  title,
                  perkId,
                  views,
                  people,
                  everything,
                  clickers,
                  converters,
                  formatSums(value, ''),
                ],
              )}
            />
          </>
        )
      }
    >
      <Loaded query={query} isEmpty={(perks) => perks.length === 0} empty={<p>{t.noPerks}</p>}>
        {(perks) => (
          <Table
            caption={t.byPerk}
            rows={perks}
            keyOf={({ perkId }) => perkId}
            sortParameter="perks"
            columns={[
              {
                name: t.perk,
                isHead: true,
                sortBy: ({ title }) => title,
                cell: (perk) => (
                  <span className="with-picture">
                    <PerkPicture src={info?.get(perk.perkId)?.picture} name={perk.title} />
                    <Link to={toOf(perk)}>{perk.title}</Link>
                  </span>
                ),
              },
              {
                name: t.views,
                isNumber: true,
                sortBy: ({ views }) => views,
                cell: ({ views }) => formatNumber(views),
              },
              {
                name: t.clicks,
                isNumber: true,
                sortBy: ({ people }) => people,
                cell: ({ people, everything, peopleBefore }) => (
                  <>
                    {formatNumber(people)}
                    {everything !== people && (
                      <span className="hint"> {t.allOf(formatNumber(everything))}</span>
                    )}
                    <Before count={people} before={peopleBefore} range={range} />
                  </>
                ),
              },
              {
                name: texts.rates.ofAll.clickers,
                isNumber: true,
                sortBy: ({ clickers }) => clickers,
                cell: ({ clickers }) => <Share part={clickers} whole={total} />,
              },
              {
                name: texts.rates.ofAll.converters,
                isNumber: true,
                sortBy: ({ converters }) => converters,
                cell: ({ converters }) => <Share part={converters} whole={total} />,
              },
              {
                name: t.value,
                isNumber: true,
                sortBy: sortBySum(perks, ({ value }) => value),
                cell: ({ value }) => formatSums(value),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

/** Compares the sources of the campaign's journeys, or the mailings or versions that they came from. */
function ByUtm({ id, range, total }: { id: string; range: Range; total: number }) {
  const { search } = useLocation();
  const { valueOf: filterOf, set } = useSearchFilters();
  const parameter = UTM_PARAMETERS.find((name) => name === filterOf('by')) ?? 'utm_source';
  const words = t.utm[parameter];
  const query = useQuery({
    queryKey: ['campaign-utm', id, range, parameter],
    queryFn: () => loadByUtm(id, range, parameter),
    ...useLiveInterval(),
  });
  const countOf = (member: string) => (row: Row) => numberOf(row, `${F}.${member}`);
  const [clickersOf, convertersOf] = [countOf('clickers'), countOf('converters')];
  const partOf = (row: Row) => (row[`${F}.${parameter}`] ?? null) as string | null;
  const nameOf = (row: Row) => partOf(row) ?? texts.overview.changed.noPart(partWord(parameter));
  const keyOf = (row: Row) => partOf(row) ?? '';
  const valueOf = (row: Row) => query.data?.values.get(keyOf(row));
  const count = (name: string, of: (row: Row) => number) => ({
    name,
    isNumber: true,
    sortBy: of,
    cell: (row: Row) => formatNumber(of(row)),
  });
  const rate = (name: string, of: (row: Row) => number) => ({
    name,
    isNumber: true,
    sortBy: (row: Row) => (comparedJourneys(row) > 0 ? of(row) / comparedJourneys(row) : null),
    cell: (row: Row) => shareOf(of(row), comparedJourneys(row)),
  });
  return (
    <Card
      title={words.title}
      note={`${texts.counting.distinct} ${words.counting} ${t.utmNote}`}
      actions={
        <>
          <SelectField
            label={t.by}
            value={parameter}
            options={UTM_PARAMETERS.map((name) => ({ value: name, label: t.utm[name].name }))}
            onValue={(name) => set('by', name === 'utm_source' ? '' : name)}
          />
          {query.data && (
            <CsvButton
              label={words.csv}
              name={`${id}-${words.file}.csv`}
              head={[words.name, JOURNEYS, CLICKERS, CONVERTERS, t.value]}
              rows={query.data.rows.map((row) => [
                keyOf(row),
                comparedJourneys(row),
                clickersOf(row),
                convertersOf(row),
                formatSums(valueOf(row), ''),
              ])}
            />
          )}
        </>
      }
    >
      <Loaded query={query} isEmpty={({ rows }) => rows.length === 0} empty={<p>{t.noSources}</p>}>
        {({ rows }) => (
          <div className="stack">
            <Table
              caption={words.title}
              rows={rows}
              keyOf={keyOf}
              sortParameter="sources"
              columns={[
                {
                  name: words.name,
                  isHead: true,
                  sortBy: nameOf,
                  cell: (row) => (
                    <PartName
                      breakdown={parameter}
                      name={partOf(row)}
                      to={exploreLink({
                        cube: F,
                        measures: [
                          ...COMPARED,
                          'clickers',
                          'converters',
                          'click_rate',
                          'journey_conversion_rate',
                        ],
                        campaignId: id,
                        where: [{ member: parameter, value: partOf(row) }],
                        steps: 'day',
                        range,
                      })}
                    />
                  ),
                },
                count(JOURNEYS, comparedJourneys),
                {
                  ...count(CLICKERS, clickersOf),
                  cell: (row) => (
                    <>
                      {formatNumber(clickersOf(row))}
                      <Before count={clickersOf(row)} before={numberOf(row, CLICKERS_BEFORE)} range={range} />
                    </>
                  ),
                },
                rate(texts.rates.clicked, clickersOf),
                count(CONVERTERS, convertersOf),
                rate(texts.rates.converted, convertersOf),
                {
                  name: t.value,
                  isNumber: true,
                  sortBy: sortBySum(rows, valueOf),
                  cell: (row) => formatSums(valueOf(row)),
                },
              ]}
            />
            {parameter === 'utm_source' && (
              <NoSource {...{ rows, total }} to={`/campaigns/${encodeURIComponent(id)}/send${search}`} />
            )}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

/** From this share of the journeys on, the table of sources says how to set the source. */
const MANY_WITHOUT_SOURCE = 0.3;

function NoSource({ rows, total, to }: { rows: Row[]; total: number; to: string }) {
  const without = rows.find((row) => row[`${F}.utm_source`] === null);
  // Reward links made outside Send have no source, whatever the pixel and the links of the message have.
  const count = numberOf(without, `${F}.journeys`) - numberOf(without, `${F}.gift_recipients`);
  if (total === 0 || count <= 0 || count < MANY_WITHOUT_SOURCE * total) return null;
  return (
    <p>
      {t.noSource(formatNumber(count), formatNumber(total), formatShare(count, total))}{' '}
      <Link to={to}>{t.setSource}</Link>
    </p>
  );
}
