import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link, useLocation, useNavigate, useParams } from 'react-router';
import { byDay, loadParts, loadRows, numberOf, sumOf, within, type Query, type Row } from '../api/analytics';
import { ApiError } from '../api/http';
import { perkway, responseOf } from '../api/perkway';
import { usePictures } from '../api/pictures';
import { saveCsv, type Cell } from '../api/csv';
import type { Campaign } from '../api/types';
import { Funnel } from '../charts/funnel';
import { TimeSeries } from '../charts/time-series';
import { daysIn, rangeBefore, TIMEZONE, type Range } from '../dates';
import { exploreLink, type Condition } from '../explore-link';
import { formatNumber, formatShare } from '../format';
import { KEEP_FOCUS } from '../keep-focus';
import { SelectField } from '../parts/fields';
import { Icon } from '../parts/icon';
import { useLiveInterval } from '../parts/live';
import { Empty, Failed, Loaded, Loading } from '../parts/loaded';
import { Outcome } from '../parts/outcome';
import { PerkPicture } from '../parts/perk-picture';
import { RangePicker, useRange } from '../parts/range-picker';
import { Card, Screen } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { Table } from '../parts/table';
import { Tabs } from '../parts/tabs';
import { texts } from '../texts';
import NotFound from './not-found';
import { NothingTracked } from './nothing-tracked';

const t = texts.campaign;
const F = 'campaign_funnel';
const STEPS = Object.keys(texts.funnel.steps) as (keyof typeof texts.funnel.steps)[];
const FreezeReport = lazy(() => import('./freeze-report'));
const CampaignSend = lazy(() => import('./campaign-send'));

const ofCampaign = (cube: string, campaignId: string): Required<Pick<Query, 'filters'>> => ({
  filters: [{ member: `${cube}.campaign_id`, operator: 'equals', values: [campaignId] }],
});

interface CampaignPerk {
  perkId: string;
  title: string;
  /** Journeys. */
  clickers: number;
  converters: number;
  /** Clicks of people, and with bots. */
  people: number;
  everything: number;
}

/** Counts what became of each perk; perks of the campaign that nobody clicked are part of it, so that the worst show. */
async function loadPerks({ id, incentives }: Campaign, range: Range): Promise<CampaignPerk[]> {
  const load = (cube: string, measures: string[]) =>
    loadRows({
      measures: measures.map((measure) => `${cube}.${measure}`),
      dimensions: [`${cube}.perk_id`, `${cube}.perk_title`],
      ...within(cube, range),
      filters: [...ofCampaign(cube, id).filters, { member: `${cube}.perk_id`, operator: 'set' }],
      limit: 1_000,
    }).then((rows) => new Map(rows.map((row) => [String(row[`${cube}.perk_id`]), row])));
  const [journeys, clicks, { incentives: offered }] = await Promise.all([
    load(F, ['clickers', 'converters']),
    load('incentive_clicks', ['count_people', 'count']),
    responseOf(perkway.boost.getTeasers({ campaignId: id })),
  ]);
  const titles = new Map(offered.map(({ perkId, title }) => [perkId, title]));
  return [...new Set([...incentives, ...journeys.keys(), ...clicks.keys()])]
    .map((perkId) => {
      const [row, clicked] = [journeys.get(perkId), clicks.get(perkId)];
      return {
        perkId,
        title: String(
          row?.[`${F}.perk_title`] ??
            clicked?.['incentive_clicks.perk_title'] ??
            titles.get(perkId) ??
            perkId,
        ),
        clickers: numberOf(row, `${F}.clickers`),
        converters: numberOf(row, `${F}.converters`),
        people: numberOf(clicked, 'incentive_clicks.count_people'),
        everything: numberOf(clicked, 'incentive_clicks.count'),
      };
    })
    .sort((one, other) => other.people - one.people);
}

/** Counts the journeys of each source; those that only had journeys before are part of it with 0. */
async function loadSources(id: string, range: Range): Promise<Row[]> {
  const source = `${F}.utm_source`;
  const [rows = [], rowsBefore = []] = await loadParts({
    measures: [`${F}.journeys`, `${F}.clickers`, `${F}.converters`],
    dimensions: [source],
    timeDimensions: [{ dimension: `${F}.occurred_at`, compareDateRange: [range, rangeBefore(range)] }],
    ...ofCampaign(F, id),
    order: { [`${F}.journeys`]: 'desc' },
    limit: 200,
  });
  const now = new Set(rows.map((row) => row[source]));
  return [
    ...rows,
    ...rowsBefore.filter((row) => !now.has(row[source]!)).map((row) => ({ [source]: row[source]! })),
  ];
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

const useFunnel = (id: string, range: Range) =>
  useQuery({
    queryKey: ['campaign-funnel', id, range],
    queryFn: () =>
      loadRows({
        measures: [...STEPS, 'events_without_journey'].map((member) => `${F}.${member}`),
        ...within(F, range),
        ...ofCampaign(F, id),
      }).then(([row]) => row ?? {}),
    ...useLiveInterval(),
  });

function Found({ campaign }: { campaign: Campaign }) {
  const { id } = campaign;
  const { tab = 'results' } = useParams();
  const navigate = useNavigate();
  const { range } = useRange();
  const { search } = useLocation();
  const [isFreezing, setFreezing] = useState(false);
  const funnel = useFunnel(id, range);
  const journeys = numberOf(funnel.data, `${F}.journeys`);
  const clickers = numberOf(funnel.data, `${F}.clickers`);
  const converters = numberOf(funnel.data, `${F}.converters`);
  const path = `/campaigns/${encodeURIComponent(id)}`;

  return (
    <Screen
      title={campaign.name}
      back={{ to: `/campaigns${search}`, label: texts.nav.campaigns }}
      intro={funnel.data && (journeys > 0 ? <Outcome {...{ journeys, clickers, converters }} /> : t.nothing)}
      actions={
        <>
          <RangePicker />
          <button type="button" className="button" onClick={() => setFreezing(true)}>
            {t.freeze}
          </button>
        </>
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
            content: () => (
              <Suspense fallback={<Loading lines={8} />}>
                <CampaignSend campaign={campaign} />
              </Suspense>
            ),
          },
        ]}
      />
      {isFreezing && (
        <Suspense>
          <FreezeReport campaign={campaign} range={range} onClose={() => setFreezing(false)} />
        </Suspense>
      )}
    </Screen>
  );
}

function Results({ campaign, range }: { campaign: Campaign; range: Range }) {
  const { id } = campaign;
  const { search } = useLocation();
  const { valueOf, set } = useSearchFilters();
  const shown = SERIES.find((name) => name === valueOf('show')) ?? 'clicks';
  const funnel = useFunnel(id, range);
  const withoutJourney = numberOf(funnel.data, `${F}.events_without_journey`);
  const days = useQuery({
    queryKey: ['campaign-days', id, range],
    queryFn: async () => {
      const before = rangeBefore(range);
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
              ...ofCampaign(cube, id),
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

  const isEmpty = funnel.data && numberOf(funnel.data, `${F}.journeys`) === 0 && withoutJourney === 0;
  return (
    <>
      {isEmpty && (
        <NothingTracked campaignId={id}>
          <Empty title={t.neverTitle}>
            <p>{t.neverText}</p>
            <Link className="button" to={`/campaigns/${encodeURIComponent(id)}/send${search}`}>
              {t.toSend}
            </Link>
          </Empty>
        </NothingTracked>
      )}
      <Card
        title={t.funnel}
        note={
          <>
            {texts.counting.distinct}{' '}
            {funnel.data &&
              days.data &&
              (withoutJourney > 0
                ? texts.counting.withoutJourney(withoutJourney, formatShare(withoutJourney, days.data.events))
                : texts.counting.noneWithoutJourney)}
          </>
        }
      >
        <Loaded query={funnel} lines={7}>
          {(row) => (
            <Funnel
              label={t.funnel}
              total={numberOf(row, `${F}.journeys`)}
              steps={STEPS.map((step) => ({
                key: step,
                name: texts.funnel.steps[step],
                to: exploreLink({
                  ...BREAKDOWNS[step],
                  where: [{ member: 'campaign_id', value: id }, ...(BREAKDOWNS[step].where ?? [])],
                  range,
                }),
                value: numberOf(row, `${F}.${step}`),
              }))}
            />
          )}
        </Loaded>
      </Card>
      <Links id={id} range={range} />
      <Card
        title={t.byDay}
        note={`${texts.counting.people} ${texts.counting.zone(TIMEZONE)}`}
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
                      where: [{ member: 'campaign_id', value: id }],
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
      <ByPerk campaign={campaign} range={range} total={numberOf(funnel.data, `${F}.journeys`)} />
      <BySource id={id} range={range} />
    </>
  );
}

type LinkState = keyof typeof t.linkStates;

/** Links count here whether they have a journey or not; the funnel counts journeys, so it leaves out those without. */
function Links({ id, range }: { id: string; range: Range }) {
  const query = useQuery({
    queryKey: ['campaign-links', id, range],
    queryFn: async () => {
      const load = (more: NonNullable<Query['filters']> = []) =>
        loadRows({
          measures: ['reward_links.count'],
          dimensions: ['reward_links.state'],
          ...within('reward_links', range),
          filters: [...ofCampaign('reward_links', id).filters, ...more],
        }).then((rows) => {
          const states = rows.map((row) => [row['reward_links.state'], numberOf(row, 'reward_links.count')]);
          return Object.fromEntries(states) as Partial<Record<LinkState, number>>;
        });
      const [all, withoutJourney] = await Promise.all([
        load(),
        load([{ member: 'reward_links.journey_id', operator: 'notSet' }]),
      ]);
      return { all, withoutJourney: withoutJourney.generated ?? 0 };
    },
    ...useLiveInterval(),
  });
  if (!query.data || Object.keys(query.data.all).length === 0) return null;
  const { all, withoutJourney } = query.data;
  const made = all.generated ?? 0;
  return (
    <Card
      title={t.links}
      note={
        <>
          {t.linksNote}{' '}
          {withoutJourney > 0 && t.linksWithoutJourney(withoutJourney, formatShare(withoutJourney, made))}
        </>
      }
    >
      <Funnel
        label={t.links}
        total={made}
        shareText={texts.funnel.ofLinks}
        steps={(Object.keys(t.linkStates) as LinkState[]).map((state) => ({
          key: state,
          name: t.linkStates[state],
          to: exploreLink({
            cube: 'reward_links',
            dimensions: ['created_by'],
            where: [
              { member: 'campaign_id', value: id },
              { member: 'state', value: state },
            ],
            range,
          }),
          value: all[state] ?? 0,
        }))}
      />
    </Card>
  );
}

const shareOf = (part: number, whole: number) => formatShare(part, whole) ?? texts.none;

function ByPerk({ campaign, range, total }: { campaign: Campaign; range: Range; total: number }) {
  const { id } = campaign;
  const query = useQuery({
    queryKey: ['campaign-perks', id, range],
    queryFn: () => loadPerks(campaign, range),
    ...useLiveInterval(),
  });
  const pictures = usePictures((query.data ?? []).map(({ perkId }) => ({ perkId, campaignId: id })));
  const toOf = ({ perkId }: CampaignPerk) =>
    exploreLink({
      cube: 'incentive_clicks',
      measures: ['count', 'count_people'],
      dimensions: ['utm_source'],
      where: [
        { member: 'campaign_id', value: id },
        { member: 'perk_id', value: perkId },
      ],
      steps: 'day',
      range,
    });
  return (
    <Card
      title={t.byPerk}
      note={t.perkNote}
      actions={
        query.data && (
          <CsvButton
            label={t.csvOfPerks}
            name={`${id}-perks.csv`}
            head={[t.perk, t.perkId, t.clicks, t.allClicks, CLICKERS, CONVERTERS]}
            rows={query.data.map(({ perkId, title, people, everything, clickers, converters }) => [
              title,
              perkId,
              people,
              everything,
              clickers,
              converters,
            ])}
          />
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
                    <PerkPicture src={pictures.get(perk.perkId)} name={perk.title} />
                    <Link to={toOf(perk)}>{perk.title}</Link>
                  </span>
                ),
              },
              {
                name: t.clicks,
                isNumber: true,
                sortBy: ({ people }) => people,
                cell: ({ people, everything }) => (
                  <>
                    {formatNumber(people)}
                    {everything !== people && (
                      <span className="hint"> {t.allOf(formatNumber(everything))}</span>
                    )}
                  </>
                ),
              },
              {
                name: CLICKERS,
                isNumber: true,
                sortBy: ({ clickers }) => clickers,
                cell: ({ clickers }) => formatNumber(clickers),
              },
              {
                name: t.clickRate,
                isNumber: true,
                sortBy: ({ clickers }) => clickers,
                cell: ({ clickers }) => shareOf(clickers, total),
              },
              {
                name: CONVERTERS,
                isNumber: true,
                sortBy: ({ converters }) => converters,
                cell: ({ converters }) => formatNumber(converters),
              },
              {
                name: t.conversionRate,
                isNumber: true,
                sortBy: ({ converters }) => converters,
                cell: ({ converters }) => shareOf(converters, total),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

function BySource({ id, range }: { id: string; range: Range }) {
  const query = useQuery({
    queryKey: ['campaign-sources', id, range],
    queryFn: () => loadSources(id, range),
    ...useLiveInterval(),
  });
  const valueOf = (member: string) => (row: Row) => numberOf(row, `${F}.${member}`);
  const [journeysOf, clickersOf, convertersOf] = ['journeys', 'clickers', 'converters'].map(valueOf) as [
    (row: Row) => number,
    (row: Row) => number,
    (row: Row) => number,
  ];
  const nameOf = (row: Row) => String(row[`${F}.utm_source`] ?? t.direct);
  const count = (name: string, of: (row: Row) => number) => ({
    name,
    isNumber: true,
    sortBy: of,
    cell: (row: Row) => formatNumber(of(row)),
  });
  const rate = (name: string, of: (row: Row) => number) => ({
    name,
    isNumber: true,
    // A source without journeys has no rate: it comes after those with 0 %.
    sortBy: (row: Row) => (journeysOf(row) > 0 ? of(row) / journeysOf(row) : -1),
    cell: (row: Row) => shareOf(of(row), journeysOf(row)),
  });
  return (
    <Card
      title={t.bySource}
      note={`${texts.counting.distinct} ${texts.counting.bySource} ${t.sourceNote}`}
      actions={
        query.data && (
          <CsvButton
            label={t.csvOfSources}
            name={`${id}-sources.csv`}
            head={[t.source, JOURNEYS, CLICKERS, CONVERTERS]}
            rows={query.data.map((row) => [nameOf(row), journeysOf(row), clickersOf(row), convertersOf(row)])}
          />
        )
      }
    >
      <Loaded query={query} isEmpty={(rows) => rows.length === 0} empty={<p>{t.noSources}</p>}>
        {(rows) => (
          <Table
            caption={t.bySource}
            rows={rows}
            keyOf={nameOf}
            sortParameter="sources"
            columns={[
              {
                name: t.source,
                isHead: true,
                sortBy: nameOf,
                cell: (row) => (
                  <Link
                    to={exploreLink({
                      cube: F,
                      measures: ['journeys', 'clickers', 'converters'],
                      where: [
                        { member: 'campaign_id', value: id },
                        { member: 'utm_source', value: (row[`${F}.utm_source`] as string | null) ?? null },
                      ],
                      steps: 'day',
                      range,
                    })}
                  >
                    {nameOf(row)}
                  </Link>
                ),
              },
              count(JOURNEYS, journeysOf),
              count(CLICKERS, clickersOf),
              rate(t.clickRate, clickersOf),
              count(CONVERTERS, convertersOf),
              rate(t.conversionRate, convertersOf),
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

interface CsvProps {
  label: string;
  name: string;
  head: string[];
  rows: Cell[][];
}

function CsvButton({ label, name, head, rows }: CsvProps) {
  return (
    <button type="button" className="button small" onClick={() => saveCsv(name, head, rows)}>
      <Icon name="download" /> {label}
    </button>
  );
}
