import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useLocation } from 'react-router';
import { ask, Refusal } from '../api/http';
import { Bars } from '../charts/bars';
import { Funnel } from '../charts/funnel';
import { TimeSeries } from '../charts/time-series';
import { dayOf } from '../dates';
import { formatLongDay, formatMoment, formatNumber, formatShare } from '../format';
import { Failed, Loading } from '../parts/loaded';
import { PerkPicture } from '../parts/perk-picture';
import { Card } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';
import '../styles/report.css';

const t = texts.report;
type StepName = keyof typeof texts.funnel.steps;

interface Report {
  title: string;
  campaignName: string;
  accountName: string;
  range: { from: string; to: string };
  asOf: string;
  expiresAt: string;
  funnel: Record<StepName | 'events_without_journey', number>;
  days: { day: string; views: number; clicks: number; conversions: number }[];
  perks: { title: string; clicks: number; picture: string | null }[];
  sources: { source: string | null; journeys: number; clickers: number; converters: number }[];
}

/** For people without a key. The secret is in the fragment, which no server and no log ever sees. */
export default function ReportScreen() {
  const { hash } = useLocation();
  const secret = hash.slice(1);
  const report = useQuery({
    queryKey: ['report', secret],
    staleTime: Infinity,
    queryFn: async () => (await ask<Report>('/api/reports/read', { method: 'POST', body: { secret } })).body,
  });
  const isGone =
    !secret || (report.error instanceof Refusal && report.error.status >= 400 && report.error.status < 429);
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

function Frozen({ report }: { report: Report }) {
  const { funnel, days, perks, sources } = report;
  const c = texts.campaign;
  return (
    <>
      <header className="screen-head">
        <div>
          <p className="wordmark">{report.accountName}</p>
          <h1>{report.title}</h1>
          <p className="intro">
            {report.campaignName} ·{' '}
            {t.range(formatLongDay(dayOf(report.range.from)), formatLongDay(dayOf(report.range.to)))}
            <br />
            {t.asOf(formatMoment(report.asOf))} {t.expires(formatMoment(report.expiresAt))}.
          </p>
        </div>
        <button type="button" className="button no-print" onClick={() => window.print()}>
          {t.print}
        </button>
      </header>
      <p className="headline">
        {c.sentence(
          formatNumber(funnel.clickers),
          formatNumber(funnel.journeys),
          formatShare(funnel.clickers, funnel.journeys),
        )}
      </p>
      <Card title={c.funnel} note={texts.counting.distinct}>
        <Funnel
          label={c.funnel}
          total={funnel.journeys}
          steps={(Object.keys(texts.funnel.steps) as StepName[]).map((step) => ({
            key: step,
            name: texts.funnel.steps[step],
            value: funnel[step],
          }))}
        />
      </Card>
      <Card title={c.byDay} note={`${texts.counting.people} ${t.utc}`}>
        <TimeSeries
          title={c.byDay}
          days={days.map(({ day }) => day)}
          series={[
            { name: c.clicks, values: days.map(({ clicks }) => clicks) },
            { name: c.views, values: days.map(({ views }) => views) },
            { name: c.conversions, values: days.map(({ conversions }) => conversions) },
          ]}
        />
      </Card>
      <div className="columns">
        <Card title={c.byPerk}>
          {perks.length === 0 ? (
            <p>{c.noPerks}</p>
          ) : (
            <Bars
              label={c.byPerk}
              bars={perks.map(({ title, clicks, picture }, index) => ({
                key: String(index),
                label: title,
                value: clicks,
                picture: <PerkPicture src={picture} name={title} />,
              }))}
            />
          )}
        </Card>
        <Card title={c.bySource}>
          {sources.length === 0 ? (
            <p>{c.noSources}</p>
          ) : (
            <Table
              caption={c.bySource}
              rows={sources}
              keyOf={({ source }) => String(source)}
              columns={[
                { name: c.source, isHead: true, cell: ({ source }) => source ?? c.direct },
                { name: texts.campaigns.journeys, isNumber: true, cell: (row) => formatNumber(row.journeys) },
                { name: texts.campaigns.clickers, isNumber: true, cell: (row) => formatNumber(row.clickers) },
                {
                  name: texts.campaigns.converters,
                  isNumber: true,
                  cell: (row) => formatNumber(row.converters),
                },
              ]}
            />
          )}
        </Card>
      </div>
    </>
  );
}
