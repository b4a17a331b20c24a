import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link, useParams } from 'react-router';
import { byDay, loadRows, numberOf, sumOf, within, type Query, type Row } from '../api/analytics';
import { get, ApiError } from '../api/http';
import { usePictures } from '../api/pictures';
import { saveCsv, type Cell } from '../api/csv';
import type { Campaign, Teasers } from '../api/types';
import { Bars } from '../charts/bars';
import { Funnel } from '../charts/funnel';
import { TimeSeries } from '../charts/time-series';
import { daysIn, TIMEZONE, type Range } from '../dates';
import { exploreLink, type Condition } from '../explore-link';
import { formatNumber, formatShare } from '../format';
import { Icon } from '../parts/icon';
import { useLiveInterval } from '../parts/live';
import { Failed, Loaded, Loading } from '../parts/loaded';
import { Outcome } from '../parts/outcome';
import { PerkPicture } from '../parts/perk-picture';
import { RangePicker, useRange } from '../parts/range-picker';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';
import NotFound from './not-found';

const t = texts.campaign;
const F = 'campaign_funnel';
const STEPS = Object.keys(texts.funnel.steps) as (keyof typeof texts.funnel.steps)[];
const FreezeReport = lazy(() => import('./freeze-report'));

const ofCampaign = (cube: string, campaignId: string): Required<Pick<Query, 'filters'>> => ({
  filters: [{ member: `${cube}.campaign_id`, operator: 'equals', values: [campaignId] }],
});

/** Counts the clicks of each perk; perks of the campaign that nobody clicked are part of it, so that the worst show. */
async function loadPerks({ id, incentives }: Campaign, range: Range) {
  const [rows, { incentives: offered }] = await Promise.all([
    loadRows({
      measures: ['incentive_clicks.count_people', 'incentive_clicks.count'],
      dimensions: ['incentive_clicks.perk_id', 'incentive_clicks.perk_title'],
      ...within('incentive_clicks', range),
      ...ofCampaign('incentive_clicks', id),
      limit: 1_000,
    }),
    get<Teasers>(`/api/boost/teasers/${encodeURIComponent(id)}`),
  ]);
  const clicked = new Map(rows.map((row) => [String(row['incentive_clicks.perk_id']), row]));
  const titles = new Map(offered.map(({ perkId, title }) => [perkId, title]));
  return [...new Set([...clicked.keys(), ...incentives])]
    .map((perkId) => {
      const row = clicked.get(perkId);
      return {
        perkId,
        title: String(row?.['incentive_clicks.perk_title'] ?? titles.get(perkId) ?? perkId),
        people: numberOf(row, 'incentive_clicks.count_people'),
        everything: numberOf(row, 'incentive_clicks.count'),
      };
    })
    .sort((one, other) => other.people - one.people);
}
const bySource = (id: string, range: Range): Query => ({
  measures: [`${F}.journeys`, `${F}.clickers`, `${F}.converters`],
  dimensions: [`${F}.utm_source`],
  ...within(F, range),
  ...ofCampaign(F, id),
  order: { [`${F}.journeys`]: 'desc' },
  limit: 200,
});

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

const COLUMNS = {
  journeys: texts.campaigns.journeys,
  clickers: texts.campaigns.clickers,
  converters: texts.campaigns.converters,
};

export default function CampaignScreen() {
  const { campaignId = '' } = useParams();
  const campaign = useQuery({
    queryKey: ['campaign', campaignId],
    queryFn: ({ signal }) =>
      get<Campaign>(`/api/boost/campaigns/${encodeURIComponent(campaignId)}`, undefined, signal),
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

function Found({ campaign }: { campaign: Campaign }) {
  const { id } = campaign;
  const { range } = useRange();
  const [isFreezing, setFreezing] = useState(false);
  const live = useLiveInterval();
  const funnel = useQuery({
    queryKey: ['campaign-funnel', id, range],
    queryFn: () =>
      loadRows({
        measures: [...STEPS, 'events_without_journey'].map((member) => `${F}.${member}`),
        ...within(F, range),
        ...ofCampaign(F, id),
      }).then(([row]) => row ?? {}),
    ...live,
  });
  const days = useQuery({
    queryKey: ['campaign-days', id, range],
    queryFn: async () => {
      const cubes = [
        ['teaser_views', 'count_people'],
        ['reward_views', 'count_people'],
        ['incentive_clicks', 'count_people'],
        ['conversions', 'count_people'],
      ] as const;
      const responses = await Promise.all(
        cubes.map(([cube, measure]) =>
          loadRows({
            measures: [`${cube}.${measure}`],
            ...within(cube, range, 'day'),
            ...ofCampaign(cube, id),
          }),
        ),
      );
      const all = daysIn(range);
      const [teasers, rewards, clicks, conversions] = cubes.map(([cube, measure], index) =>
        byDay(responses[index]!, cube, `${cube}.${measure}`, all),
      ) as [number[], number[], number[], number[]];
      const events = cubes.reduce(
        (sum, [cube, measure], index) => sum + sumOf(responses[index]!, `${cube}.${measure}`),
        0,
      );
      return { all, views: teasers.map((value, day) => value + rewards[day]!), clicks, conversions, events };
    },
    ...live,
  });
  const journeys = numberOf(funnel.data, `${F}.journeys`);
  const clickers = numberOf(funnel.data, `${F}.clickers`);
  const converters = numberOf(funnel.data, `${F}.converters`);
  const withoutJourney = numberOf(funnel.data, `${F}.events_without_journey`);

  return (
    <Screen
      title={campaign.name}
      back={{ to: '/campaigns', label: texts.nav.campaigns }}
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
          days.data && (
            <CsvButton
              label={t.csvOfDays}
              name={`${id}-days.csv`}
              head={[texts.day, t.clicks, t.views, t.conversions]}
              rows={days.data.all.map((day, index) => [
                day,
                days.data.clicks[index]!,
                days.data.views[index]!,
                days.data.conversions[index]!,
              ])}
            />
          )
        }
      >
        <Loaded query={days} lines={6}>
          {({ all, views, clicks, conversions }) => (
            <TimeSeries
              title={`${campaign.name}: ${t.byDay}`}
              days={all}
              hrefOf={(day) =>
                exploreLink({
                  cube: 'incentive_clicks',
                  measures: ['count', 'count_people'],
                  dimensions: ['perk_title'],
                  where: [{ member: 'campaign_id', value: id }],
                  range: [day, day],
                })
              }
              series={[
                { name: t.clicks, values: clicks },
                { name: t.views, values: views },
                { name: t.conversions, values: conversions },
              ]}
            />
          )}
        </Loaded>
      </Card>
      <div className="columns">
        <ByPerk campaign={campaign} range={range} />
        <BySource id={id} range={range} />
      </div>
      {isFreezing && (
        <Suspense>
          <FreezeReport campaign={campaign} range={range} onClose={() => setFreezing(false)} />
        </Suspense>
      )}
    </Screen>
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
          value: all[state] ?? 0,
        }))}
      />
    </Card>
  );
}

function ByPerk({ campaign, range }: { campaign: Campaign; range: Range }) {
  const { id } = campaign;
  const query = useQuery({
    queryKey: ['campaign-perks', id, range],
    queryFn: () => loadPerks(campaign, range),
    ...useLiveInterval(),
  });
  const pictures = usePictures((query.data ?? []).map(({ perkId }) => ({ perkId, campaignId: id })));
  return (
    <Card
      title={t.byPerk}
      note={texts.counting.people}
      actions={
        query.data && (
          <CsvButton
            label={t.csvOfPerks}
            name={`${id}-perks.csv`}
            head={[t.perk, t.perkId, t.clicks, t.allClicks]}
            rows={query.data.map(({ perkId, title, people, everything }) => [
              title,
              perkId,
              people,
              everything,
            ])}
          />
        )
      }
    >
      <Loaded query={query} isEmpty={(perks) => perks.length === 0} empty={<p>{t.noPerks}</p>}>
        {(perks) => (
          <Bars
            label={t.byPerk}
            bars={perks.map(({ perkId, title, people, everything }) => ({
              key: perkId,
              label: (
                <Link
                  to={exploreLink({
                    cube: 'incentive_clicks',
                    measures: ['count', 'count_people'],
                    dimensions: ['utm_source'],
                    where: [
                      { member: 'campaign_id', value: id },
                      { member: 'perk_id', value: perkId },
                    ],
                    steps: 'day',
                    range,
                  })}
                >
                  {title}
                </Link>
              ),
              value: people,
              note: everything === people ? null : t.allOf(formatNumber(everything)),
              picture: <PerkPicture src={pictures.get(perkId)} name={title} />,
            }))}
          />
        )}
      </Loaded>
    </Card>
  );
}

function BySource({ id, range }: { id: string; range: Range }) {
  const query = useQuery({
    queryKey: ['campaign-sources', id, range],
    queryFn: () => loadRows(bySource(id, range)),
    ...useLiveInterval(),
  });
  const journeysOf = (row: Row) => numberOf(row, `${F}.journeys`);
  const shareOf = (member: string) => (row: Row) => (
    <>
      {formatNumber(numberOf(row, `${F}.${member}`))}{' '}
      <span className="hint">{formatShare(numberOf(row, `${F}.${member}`), journeysOf(row))}</span>
    </>
  );
  return (
    <Card
      title={t.bySource}
      note={`${texts.counting.distinct} ${texts.counting.bySource}`}
      actions={
        query.data && (
          <CsvButton
            label={t.csvOfSources}
            name={`${id}-sources.csv`}
            head={[t.source, ...Object.values(COLUMNS)]}
            rows={query.data.map((row) => [
              row[`${F}.utm_source`] ?? t.direct,
              ...Object.keys(COLUMNS).map((member) => numberOf(row, `${F}.${member}`)),
            ])}
          />
        )
      }
    >
      <Loaded query={query} isEmpty={(rows) => rows.length === 0} empty={<p>{t.noSources}</p>}>
        {(rows) => (
          <Table
            caption={t.bySource}
            rows={rows}
            keyOf={(row) => String(row[`${F}.utm_source`])}
            columns={[
              {
                name: t.source,
                isHead: true,
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
                    {row[`${F}.utm_source`] ?? t.direct}
                  </Link>
                ),
              },
              {
                name: texts.campaigns.journeys,
                isNumber: true,
                cell: (row) => formatNumber(journeysOf(row)),
              },
              { name: texts.campaigns.clickers, isNumber: true, cell: shareOf('clickers') },
              { name: texts.campaigns.converters, isNumber: true, cell: shareOf('converters') },
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
