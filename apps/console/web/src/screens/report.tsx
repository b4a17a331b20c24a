import type { Amount } from '@perkway/domain/step-amounts';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useLocation } from 'react-router';
import { sendRequest, ApiError } from '../api/http';
import type { FrozenReport } from '../api/types';
import { Funnel } from '../charts/funnel';
import { TimeSeries } from '../charts/time-series';
import { daysIn, TIMEZONE, type Range } from '../dates';
import { formatMoment, formatNumber, formatRange, formatShare } from '../format';
import { Failed, Loading } from '../parts/loaded';
import { Outcome } from '../parts/outcome';
import { Card } from '../parts/screen';
import { StepTable, type Step } from '../parts/step-table';
import { Table, type Column } from '../parts/table';
import { changedParts, changedPerks, PartName, RateVerdict } from '../parts/verdict';
import { texts } from '../texts';
import '../styles/report.css';

const t = texts.report;
const s = texts.overview.sent;
type StepName = keyof typeof texts.funnel.steps;

/** The figures of a day that each chart adds up. */
const CHARTS = {
  clicks: ['clicks_people'],
  views: ['teaser_views_people', 'reward_views_people'],
  conversions: ['conversions_people'],
} as const;

/** A report for people without a key. The secret is in the URL fragment, which browsers send to no server. */
export default function ReportScreen() {
  const { hash } = useLocation();
  const secret = hash.slice(1);
  const report = useQuery({
    queryKey: ['report', secret],
    staleTime: Infinity,
    queryFn: async () =>
      (await sendRequest<FrozenReport>('/api/reports/read', { method: 'POST', body: { secret } })).body,
  });
  const isGone =
    !secret || (report.error instanceof ApiError && report.error.status >= 400 && report.error.status < 429);
  useEffect(() => {
    document.title = `${report.data?.title ?? texts.nav.reports} · ${texts.product}`;
  }, [report.data]);

  return (
    <main className="report screen">
      {isGone ? (
        <>
          <h1>{t.goneTitle}</h1>
          <p>{t.gone}</p>
        </>
      ) : report.data ? (
        <Frozen report={report.data} />
      ) : report.isError ? (
        <>
          <h1>{t.goneTitle}</h1>
          <Failed error={report.error} retry={() => void report.refetch()} />
        </>
      ) : (
        <Loading lines={8} />
      )}
    </main>
  );
}

function Frozen({ report }: { report: FrozenReport }) {
  const { funnel, by_day, by_day_before, by_perk, by_source } = report;
  const c = texts.campaign;
  /** Earlier releases counted no journeys by perk and source. */
  const isEarlier = [...by_perk, ...by_source].every(({ clickers }) => clickers === undefined);
  const recipients = funnel.gift_recipients ?? 0;
  const days = daysIn(rangeOf(report.range));
  const daysBefore = report.range_before ? daysIn(rangeOf(report.range_before)) : [];
  const journeys = funnel.journeys ?? 0;
  const linkOnly = linkOnlyOf(report);
  const compared = journeys - linkOnly.count;
  const hasLinkOnly = linkOnly.count + linkOnly.count_before > 0;
  const leftOut = hasLinkOnly ? texts.counting.withoutLinkOnly : '';
  return (
    <>
      <header className="screen-head">
        <div>
          <p className="wordmark">{report.account_name}</p>
          <h1>{report.title}</h1>
          <p className="intro">
            {report.campaign_name} · {rangeText(report.range)}
            <br />
            {t.asOf(formatMoment(report.as_of))} {t.expires(formatMoment(report.expires_at))} (
            {TIMEZONE.replaceAll('_', ' ')}).
          </p>
        </div>
        <button type="button" className="button" onClick={() => window.print()}>
          {t.print}
        </button>
      </header>
      {report.comment && <p className="comment">{report.comment}</p>}
      <p className="headline">
        {journeys > 0 ? <Outcome countOf={(step) => funnel[step] ?? 0} /> : c.nothing}
      </p>
      {report.steps && <FrozenVerdict {...{ report, linkOnly }} steps={report.steps} />}
      <p className="hint">
        {texts.overview.verdict.journey} {by_day_before && texts.overview.verdict.perks}{' '}
        {hasLinkOnly && texts.overview.verdict.linkOnly}
      </p>
      <Card
        title={c.funnel}
        note={`${texts.counting.distinct} ${withoutJourney(funnel.events_without_journey ?? 0)} ${recipients > 0 ? c.anyContact(recipients) : ''}`}
      >
        <Funnel
          label={c.funnel}
          total={journeys}
          steps={(Object.keys(texts.funnel.steps) as StepName[]).map((step) => ({
            key: step,
            name: texts.funnel.steps[step],
            value: funnel[step] ?? 0,
          }))}
        />
      </Card>
      {report.steps && report.range_before && (
        <Card
          title={s.title}
          note={`${s.note} ${t.links} ${t.before(rangeText(report.range_before))} ${t.utc}`}
        >
          <StepTable
            amounts={amountsOf(report.steps, 'count', 'value')}
            amountsBefore={amountsOf(report.steps, 'count_before', 'value_before')}
            periods={[rangeOf(report.range), rangeOf(report.range_before)]}
          />
        </Card>
      )}
      <Card
        title={c.byDay}
        note={`${texts.counting.people} ${t.utc} ${daysBefore.length > days.length ? texts.longerBefore : ''}`}
      >
        <div className="stack">
          {(Object.keys(CHARTS) as (keyof typeof CHARTS)[]).map((name) => (
            <div key={name}>
              <h3>{c[name]}</h3>
              <TimeSeries
                title={texts.overview.chartOf(c[name])}
                days={days}
                height={150}
                series={[
                  { name: texts.overview.now, values: valuesOf(name, days, by_day) },
                  ...(by_day_before
                    ? [
                        {
                          name: texts.overview.before,
                          values: valuesOf(name, daysBefore.slice(0, days.length), by_day_before),
                          isBefore: true,
                        },
                      ]
                    : []),
                ]}
              />
            </div>
          ))}
        </div>
      </Card>
      <Card
        className="dense"
        title={t.byPerk}
        note={isEarlier ? t.clicksNote : `${t.clicksNote} ${t.perkRates} ${leftOut}`}
      >
        {by_perk.length === 0 ? (
          <p>{t.nothing}</p>
        ) : (
          <Table
            caption={t.byPerk}
            rows={by_perk}
            keyOf={({ perk_id }) => perk_id}
            columns={[
              { name: c.perk, isHead: true, cell: ({ perk_id, perk_title }) => perk_title ?? perk_id },
              ...CLICK_COLUMNS,
              ...(isEarlier
                ? []
                : [
                    rate<PerkRow>(texts.rates.ofAll.clickers, ({ clickers }) => [clickers, compared]),
                    rate<PerkRow>(texts.rates.ofAll.converters, ({ converters }) => [converters, compared]),
                  ]),
            ]}
          />
        )}
      </Card>
      <Card
        className="dense"
        title={t.bySource}
        note={
          isEarlier ? t.clicksNote : `${t.clicksNote} ${t.sourceRates} ${leftOut} ${texts.counting.bySource}`
        }
      >
        {by_source.length === 0 ? (
          <p>{t.nothing}</p>
        ) : (
          <Table
            caption={t.bySource}
            rows={by_source}
            keyOf={({ utm_source }) => String(utm_source)}
            columns={[
              {
                name: c.source,
                isHead: true,
                cell: ({ utm_source }) => <PartName breakdown="utm_source" name={utm_source} />,
              },
              ...CLICK_COLUMNS,
              ...(isEarlier
                ? []
                : [
                    JOURNEYS,
                    rate<SourceRow>(texts.rates.clicked, (row) => [row.clickers, row.journeys]),
                    rate<SourceRow>(texts.rates.converted, (row) => [row.converters, row.journeys]),
                  ]),
            ]}
          />
        )}
      </Card>
    </>
  );
}

type PerkRow = FrozenReport['by_perk'][number];
type SourceRow = FrozenReport['by_source'][number];
const CLICK_COLUMNS: Column<PerkRow | SourceRow>[] = [
  { name: texts.campaign.clicks, isNumber: true, cell: (row) => formatNumber(row.clicks_people) },
  { name: texts.campaign.allClicks, isNumber: true, cell: (row) => formatNumber(row.clicks) },
];

const JOURNEYS: Column<SourceRow> = {
  name: texts.campaigns.journeys,
  isNumber: true,
  cell: ({ journeys = 0 }) => formatNumber(journeys),
};

/** @param partsOf returns the part and the whole */
const rate = <Row,>(name: string, partsOf: (row: Row) => [number?, number?]): Column<Row> => ({
  name,
  isNumber: true,
  cell: (row) => {
    const [part = 0, whole = 0] = partsOf(row);
    return formatShare(part, whole) ?? texts.none;
  },
});

/** The sum of a chart's figures on each day. */
function valuesOf(name: keyof typeof CHARTS, days: string[], rows: FrozenReport['by_day']): number[] {
  const counted = new Map(rows.map((row) => [row.day, row]));
  return days.map((day) => CHARTS[name].reduce((sum, figure) => sum + (counted.get(day)?.[figure] ?? 0), 0));
}

/** Returns how many journeys the comparisons leave out: none in reports of earlier releases. */
const linkOnlyOf = ({ steps }: Pick<FrozenReport, 'steps'>) =>
  steps?.find(({ step }) => step === 'gift_only_recipients') ?? { count: 0, count_before: 0 };

/** Says whether the rates of clicks and conversions changed, and why. Older reports lack the causes, or all of it. */
const FrozenVerdict = ({
  report: { by_source, by_perk, by_day_before },
  steps,
  linkOnly,
}: {
  report: FrozenReport;
  steps: NonNullable<FrozenReport['steps']>;
  linkOnly: ReturnType<typeof linkOnlyOf>;
}) => (
  <div className="stack">
    {(['clickers', 'converters'] as const).map((outcome) => {
      const [all, those] = ['journeys', outcome].map((name) => steps.find(({ step }) => step === name));
      if (!all || !those) return null;
      const total = {
        journeys: all.count - linkOnly.count,
        journeysBefore: all.count_before - linkOnly.count_before,
        ...{ reached: those.count, reachedBefore: those.count_before },
      };
      const reachedOf = (row: PerkRow | SourceRow) => ({
        ...{ reached: row[outcome] ?? 0, reachedBefore: row[`${outcome}_before`] ?? 0 },
      });
      const sources = by_source.map((row) => ({
        ...{ key: row.utm_source ?? '', value: row.utm_source, name: row.utm_source ?? '' },
        ...{ journeys: row.journeys ?? 0, journeysBefore: row.journeys_before ?? 0 },
        ...reachedOf(row),
      }));
      const perks = by_perk.map((row) => ({
        ...{ key: row.perk_id, value: row.perk_id, name: row.perk_title ?? row.perk_id },
        ...reachedOf(row),
      }));
      const changes = [
        { breakdown: 'utm_source', parts: changedParts(sources) },
        { breakdown: 'perk', parts: changedPerks(perks, total) },
      ];
      return (
        total.journeys > 0 && (
          <RateVerdict
            key={outcome}
            {...{ outcome, total }}
            leavesOut={linkOnly.count + linkOnly.count_before > 0}
            changes={by_day_before ? changes : []}
          />
        )
      );
    })}
  </div>
);

const rangeOf = ({ from, to }: FrozenReport['range']): Range => [from, to];
const rangeText = (range: FrozenReport['range']) => formatRange(rangeOf(range));

const amountsOf = (
  steps: NonNullable<FrozenReport['steps']>,
  count: 'count' | 'count_before',
  value: 'value' | 'value_before',
) =>
  Object.fromEntries(
    steps.map((step) => [
      step.step,
      {
        count: step[count],
        money: new Map(step[value].map(({ currency, amount }) => [currency, amount])),
      },
    ]),
  ) as Record<Step, Amount>;

const withoutJourney = (events: number) =>
  events > 0 ? texts.counting.withoutJourney(events) : texts.counting.noneWithoutJourney;
