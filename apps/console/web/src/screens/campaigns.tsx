import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'react-router';
import { byDay, loadParts, loadRows, numberOf, within, type Row } from '../api/analytics';
import { useCampaigns } from '../api/campaigns';
import { useSession } from '../api/session';
import type { Campaign } from '../api/types';
import { Sparkline } from '../charts/sparkline';
import { daysIn, rangeBefore } from '../dates';
import { formatChange, formatNumber, formatShare } from '../format';
import { cardValuesBy, formatSums, sortBySum, valuesBy, type Money } from '../money';
import { TextField } from '../parts/fields';
import { useLiveInterval } from '../parts/live';
import { Empty, Loaded } from '../parts/loaded';
import { RangePicker, useRange } from '../parts/range-picker';
import { Card, Screen } from '../parts/screen';
import { RowName, Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.campaigns;
const F = 'campaign_funnel';
const CONVERSIONS = 'conversions';
const LINKS = 'reward_links';

/** A figure with another one below, because a table of more columns would not fit. */
const twoLines = (figure: ReactNode, below: ReactNode) => (
  <>
    {figure}
    {below && (
      <>
        {' '}
        <br />
        <span className="hint">{below}</span>
      </>
    )}
  </>
);

export default function Campaigns() {
  const { range: now } = useRange();
  const before = rangeBefore(now);
  const { search } = useLocation();
  const { role } = useSession();
  const live = useLiveInterval();
  const [sought, setSought] = useState('');
  const campaigns = useCampaigns();
  const funnels = useQuery({
    queryKey: ['campaign-funnels', now],
    queryFn: () =>
      loadParts({
        measures: [`${F}.journeys`, `${F}.clickers`, `${F}.converters`],
        dimensions: [`${F}.campaign_id`],
        timeDimensions: [{ dimension: `${F}.occurred_at`, compareDateRange: [now, before] }],
      }).then((parts) => parts.map((rows) => new Map(rows.map((row) => [row[`${F}.campaign_id`], row])))),
    ...live,
  });
  const values = useQuery({
    queryKey: ['campaign-values', now],
    queryFn: async () => {
      const parts = await loadParts({
        measures: [`${CONVERSIONS}.value`],
        dimensions: [`${CONVERSIONS}.campaign_id`, `${CONVERSIONS}.currency`],
        segments: [`${CONVERSIONS}.people`],
        timeDimensions: [{ dimension: `${CONVERSIONS}.occurred_at`, compareDateRange: [now, before] }],
        limit: 10_000,
      });
      return parts.map((rows) => valuesBy(`${CONVERSIONS}.campaign_id`, rows));
    },
    ...live,
  });
  const spent = useQuery({
    queryKey: ['campaign-cards', now],
    queryFn: async () => {
      const parts = await loadParts({
        measures: [`${LINKS}.count`],
        dimensions: [`${LINKS}.campaign_id`, `${LINKS}.currency`, `${LINKS}.denomination`],
        filters: [{ member: `${LINKS}.state`, operator: 'equals', values: ['revealed'] }],
        timeDimensions: [{ dimension: `${LINKS}.occurred_at`, compareDateRange: [now, before] }],
        limit: 10_000,
      });
      return parts.map((rows) => cardValuesBy(`${LINKS}.campaign_id`, rows));
    },
    ...live,
  });
  const clicks = useQuery({
    queryKey: ['campaign-clicks', now],
    queryFn: () =>
      loadRows({
        measures: ['incentive_clicks.count_people'],
        dimensions: ['incentive_clicks.campaign_id'],
        ...within('incentive_clicks', now, 'day'),
        limit: 50_000,
      }).then((rows) => Map.groupBy(rows, (row) => row['incentive_clicks.campaign_id'])),
    ...live,
  });
  const trendOf = ({ id, name }: Campaign) => {
    const values = byDay(
      clicks.data?.get(id) ?? [],
      'incentive_clicks',
      'incentive_clicks.count_people',
      daysIn(now),
    );
    const total = values.reduce((sum, value) => sum + value, 0);
    return (
      <span className="with-picture">
        <Sparkline label={t.trendOf(name, formatNumber(total))} values={values} />
        <span className="number">{formatNumber(total)}</span>
      </span>
    );
  };
  /** A column of money of the period, with that of the period before below it. */
  const money = (name: string, parts: Map<string, Money>[] | undefined, list: Campaign[]) => ({
    name,
    isNumber: true,
    sortBy: sortBySum(list, ({ id }) => parts?.[0]?.get(id)),
    cell: ({ id }: Campaign) => {
      const [current, earlier] = [0, 1].map((part) => formatSums(parts?.[part]?.get(id), ''));
      return <div className="sums">{twoLines(current || texts.none, earlier && t.valueBefore(earlier))}</div>;
    },
  });
  const countOf = (member: string) => (campaign: Campaign) => {
    const row: Row | undefined = funnels.data?.[0]?.get(campaign.id);
    return numberOf(row, `${F}.${member}`);
  };
  const journeysOf = countOf('journeys');
  /** A count of journeys, with its share of all journeys of the campaign. */
  const outcome = (name: string, member: string) => ({
    name,
    isNumber: true,
    sortBy: countOf(member),
    cell: (campaign: Campaign) => {
      const count = countOf(member)(campaign);
      const share = formatShare(count, journeysOf(campaign));
      return (
        <>
          {formatNumber(count)}
          {share && <span className="hint"> {share}</span>}
        </>
      );
    },
  });

  return (
    <Screen title={texts.nav.campaigns} intro={t.intro} actions={<RangePicker />}>
      <Card className="dense" note={`${texts.counting.distinct} ${t.sharesNote}`}>
        <Loaded
          query={campaigns}
          isEmpty={(list) => list.length === 0}
          empty={
            <Empty title={t.emptyTitle}>
              {role === 'ADMIN' ? <Link to="/campaign-editor/new">{t.create}</Link> : <p>{t.emptyText}</p>}
            </Empty>
          }
        >
          {(list) => (
            <div className="stack">
              {list.length > 8 && (
                <TextField label={t.find} type="search" value={sought} onValue={setSought} />
              )}
              <Loaded query={funnels}>
                {() => (
                  <Table
                    caption={texts.nav.campaigns}
                    rows={list.filter(({ id, name }) =>
                      `${id} ${name}`.toLowerCase().includes(sought.trim().toLowerCase()),
                    )}
                    keyOf={({ id }) => id}
                    sortParameter="order"
                    columns={[
                      {
                        name: t.name,
                        isHead: true,
                        sortBy: ({ name }) => name,
                        cell: ({ id, name, incentives }) =>
                          twoLines(
                            <RowName name={name}>
                              <Link to={`/campaigns/${encodeURIComponent(id)}${search}`}>{name}</Link>
                            </RowName>,
                            texts.shown(incentives.length, false, texts.counted.perks),
                          ),
                      },
                      {
                        name: t.journeys,
                        isNumber: true,
                        sortBy: journeysOf,
                        cell: ({ id }) => {
                          const [count, earlier] = [0, 1].map((part) =>
                            numberOf(funnels.data?.[part]?.get(id), `${F}.journeys`),
                          ) as [number, number];
                          return twoLines(formatNumber(count), formatChange(count, earlier));
                        },
                      },
                      outcome(t.clickers, 'clickers'),
                      outcome(t.converters, 'converters'),
                      { name: t.trend, cell: trendOf },
                      money(t.spent, spent.data, list),
                      money(t.value, values.data, list),
                    ]}
                  />
                )}
              </Loaded>
            </div>
          )}
        </Loaded>
      </Card>
    </Screen>
  );
}
