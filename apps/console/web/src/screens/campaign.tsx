import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useParams } from 'react-router';
import { byDay, downloadCsv, loadRows, numberOf, sumOf, within, type Query } from '../api/analytics';
import { get, ApiError } from '../api/http';
import { usePictures } from '../api/pictures';
import type { Campaign } from '../api/types';
import { Bars } from '../charts/bars';
import { Funnel } from '../charts/funnel';
import { TimeSeries } from '../charts/time-series';
import { daysIn, TIMEZONE, type Range } from '../dates';
import { formatNumber, formatShare } from '../format';
import { Icon } from '../parts/icon';
import { useLiveInterval } from '../parts/live';
import { Failed, Loaded, Loading } from '../parts/loaded';
import { useNotices } from '../parts/notices';
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

const ofCampaign = (cube: string, campaignId: string): Pick<Query, 'filters'> => ({
  filters: [{ member: `${cube}.campaign_id`, operator: 'equals', values: [campaignId] }],
});

const clicksByDay = (id: string, range: Range): Query => ({
  measures: ['incentive_clicks.count_people', 'incentive_clicks.count'],
  ...within('incentive_clicks', range, 'day'),
  ...ofCampaign('incentive_clicks', id),
});
const clicksByPerk = (id: string, range: Range): Query => ({
  measures: ['incentive_clicks.count_people', 'incentive_clicks.count'],
  dimensions: ['incentive_clicks.perk_id', 'incentive_clicks.perk_title'],
  ...within('incentive_clicks', range),
  ...ofCampaign('incentive_clicks', id),
  order: { 'incentive_clicks.count_people': 'desc' },
  limit: 200,
});
const bySource = (id: string, range: Range): Query => ({
  measures: [`${F}.journeys`, `${F}.clickers`, `${F}.converters`],
  dimensions: [`${F}.utm_source`],
  ...within(F, range),
  ...ofCampaign(F, id),
  order: { [`${F}.journeys`]: 'desc' },
  limit: 200,
});

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
            measures: [`${cube}.${measure}`, `${cube}.count`],
            ...within(cube, range, 'day'),
            ...ofCampaign(cube, id),
          }),
        ),
      );
      const all = daysIn(range);
      const [teasers, rewards, clicks, conversions] = cubes.map(([cube, measure], index) =>
        byDay(responses[index]!, cube, `${cube}.${measure}`, all),
      ) as [number[], number[], number[], number[]];
      const events = cubes.reduce((sum, [cube], index) => sum + sumOf(responses[index]!, `${cube}.count`), 0);
      return { all, views: teasers.map((value, day) => value + rewards[day]!), clicks, conversions, events };
    },
    ...live,
  });
  const journeys = numberOf(funnel.data, `${F}.journeys`);
  const clickers = numberOf(funnel.data, `${F}.clickers`);
  const withoutJourney = numberOf(funnel.data, `${F}.events_without_journey`);

  return (
    <Screen
      title={campaign.name}
      back={{ to: '/campaigns', label: texts.nav.campaigns }}
      intro={
        funnel.data &&
        (journeys > 0
          ? t.sentence(formatNumber(clickers), formatNumber(journeys), formatShare(clickers, journeys))
          : t.nothing)
      }
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
                ? texts.counting.withoutJourney(
                    formatNumber(withoutJourney),
                    formatShare(withoutJourney, days.data.events),
                  )
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
                value: numberOf(row, `${F}.${step}`),
              }))}
            />
          )}
        </Loaded>
      </Card>
      <Card
        title={t.byDay}
        note={`${texts.counting.people} ${texts.counting.zone(TIMEZONE)}`}
        actions={<CsvButton label={t.csvOfDays} query={clicksByDay(id, range)} name={`${id}-days.csv`} />}
      >
        <Loaded query={days} lines={6}>
          {({ all, views, clicks, conversions }) => (
            <TimeSeries
              title={`${campaign.name}: ${t.byDay}`}
              days={all}
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
        <ByPerk id={id} range={range} />
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

function ByPerk({ id, range }: { id: string; range: Range }) {
  const query = useQuery({
    queryKey: ['campaign-perks', id, range],
    queryFn: () => loadRows(clicksByPerk(id, range)),
    ...useLiveInterval(),
  });
  const pictures = usePictures(
    (query.data ?? []).map((row) => ({
      perkId: String(row['incentive_clicks.perk_id']),
      campaignId: id,
    })),
  );
  return (
    <Card
      title={t.byPerk}
      note={texts.counting.people}
      actions={<CsvButton label={t.csvOfPerks} query={clicksByPerk(id, range)} name={`${id}-perks.csv`} />}
    >
      <Loaded query={query} isEmpty={(rows) => rows.length === 0} empty={<p>{t.noPerks}</p>}>
        {(rows) => (
          <Bars
            label={t.byPerk}
            bars={rows.map((row) => {
              const perkId = String(row['incentive_clicks.perk_id']);
              const title = String(row['incentive_clicks.perk_title'] ?? perkId);
              const people = numberOf(row, 'incentive_clicks.count_people');
              const everything = numberOf(row, 'incentive_clicks.count');
              return {
                key: perkId,
                label: title,
                value: people,
                note: everything === people ? null : t.allOf(formatNumber(everything)),
                picture: <PerkPicture src={pictures.get(perkId)} name={title} />,
              };
            })}
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
  const cell = (member: string) => (row: Parameters<typeof numberOf>[0]) =>
    formatNumber(numberOf(row, `${F}.${member}`));
  return (
    <Card
      title={t.bySource}
      note={`${texts.counting.distinct} ${texts.counting.bySource}`}
      actions={<CsvButton label={t.csvOfSources} query={bySource(id, range)} name={`${id}-sources.csv`} />}
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
                cell: (row) => row[`${F}.utm_source`] ?? <span className="hint">{t.direct}</span>,
              },
              { name: texts.campaigns.journeys, isNumber: true, cell: cell('journeys') },
              { name: texts.campaigns.clickers, isNumber: true, cell: cell('clickers') },
              { name: texts.campaigns.converters, isNumber: true, cell: cell('converters') },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

function CsvButton({ label, query, name }: { label: string; query: Query; name: string }) {
  const { say } = useNotices();
  const save = () => downloadCsv(query, name).catch((error: Error) => say(error.message, 'bad'));
  return (
    <button type="button" className="button small" onClick={() => void save()}>
      <Icon name="download" /> {label}
    </button>
  );
}
