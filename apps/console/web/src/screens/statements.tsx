import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';
import { download } from '../api/http';
import { perkway, responseOf } from '../api/perkway';
import { poolName, usePools } from '../api/pools';
import type { Statement, StatementFigure } from '../api/types';
import { formatMoney, formatMonth, formatNumber } from '../format';
import { SelectField } from '../parts/fields';
import { Empty, Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.statements;
const MONTHS = 36;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;
const FIGURES = [
  'opening',
  'loaded',
  'revealed',
  'withdrawn',
  'closing',
  'generated',
  'cancelled',
  'expired',
] as const;
type Figures = Record<(typeof FIGURES)[number], StatementFigure>;

/** The latest months, this one first, as YYYY-MM in UTC. */
function latestMonths(): string[] {
  const now = new Date();
  return Array.from({ length: MONTHS }, (_, ago) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)).toISOString().slice(0, 7),
  );
}

/** No currency has more than three decimals. */
const add = (a: StatementFigure, b: StatementFigure): StatementFigure => ({
  cards: a.cards + b.cards,
  amount: Number((a.amount + b.amount).toFixed(3)),
});

/** The sum of each figure, by currency. */
function totalsOf(rows: Statement['rows']): [currency: string, Figures][] {
  const totals = new Map<string, Figures>();
  for (const row of rows) {
    const before = totals.get(row.currency);
    const sums = FIGURES.map((name) => [name, before ? add(before[name], row[name]) : row[name]]);
    totals.set(row.currency, Object.fromEntries(sums) as Figures);
  }
  return [...totals];
}

const figureColumns = <T extends Figures>(currencyOf: (row: T) => string) =>
  FIGURES.map((name) => ({
    name: t.figures[name],
    isNumber: true,
    cell: (row: T) => (
      <>
        {formatNumber(row[name].cards)}
        <br />
        <span className="hint">{formatMoney(row[name].amount, currencyOf(row))}</span>
      </>
    ),
  }));

export default function Statements() {
  const { attempt } = useNotices();
  const [params, setParams] = useSearchParams();
  const months = latestMonths();
  const given = params.get('month') ?? '';
  const month = MONTH.test(given) ? given : months[0]!;
  const statement = useQuery({
    queryKey: ['statement', month],
    queryFn: ({ signal }) => responseOf(perkway.gift.getStatement({ month }, { signal })),
  });
  const pools = usePools();
  const nameOf = (id: string) => {
    const pool = pools.data?.find((known) => known.id === id);
    return pool ? poolName(pool) : id.slice(0, 8);
  };
  const save = (path: string, extension: string, headers = {}) =>
    attempt(download(path, `statement-${month}.${extension}`, { headers }));
  return (
    <Screen
      title={texts.nav.statements}
      intro={t.intro}
      actions={
        <>
          <button
            type="button"
            className="button"
            disabled={!statement.isSuccess}
            onClick={() => void save(`/api/gift/statements?month=${month}`, 'csv', { accept: 'text/csv' })}
          >
            {t.csv}
          </button>
          <button
            type="button"
            className="button"
            disabled={!statement.data?.closed}
            onClick={() => void save(`/api/gift/statements/${month}.jws`, 'jws')}
          >
            {t.signed}
          </button>
        </>
      }
    >
      <div className="form filters">
        <SelectField
          label={t.month}
          value={month}
          options={[...new Set([...months, month])].map((value) => ({ value, label: formatMonth(value) }))}
          onValue={(value) => setParams({ month: value }, { replace: true })}
        />
      </div>
      <Loaded
        query={statement}
        isEmpty={({ rows }) => rows.length === 0}
        empty={
          <Empty title={t.emptyTitle}>
            <p>{t.emptyText}</p>
            <Link to="/gift-cards">{t.toPools}</Link>
          </Empty>
        }
      >
        {({ closed, rows }) => (
          <>
            <Card
              className="dense"
              title={t.totals}
              note={`${t.sumNote} ${closed ? t.closedNote : t.openNote}`}
            >
              <Table
                caption={t.totals}
                rows={totalsOf(rows).map(([currency, figures]) => ({ currency, ...figures }))}
                keyOf={({ currency }) => currency}
                columns={[
                  { name: t.currency, isHead: true, cell: ({ currency }) => currency },
                  ...figureColumns<Figures & { currency: string }>(({ currency }) => currency),
                ]}
              />
            </Card>
            <Card className="dense" title={t.byPool}>
              <Table
                caption={t.byPool}
                rows={rows}
                keyOf={({ pool_id, currency, country, denomination }) =>
                  [pool_id, currency, country, denomination].join()
                }
                columns={[
                  { name: t.pool, isHead: true, cell: ({ pool_id }) => nameOf(pool_id) },
                  { name: t.value, cell: (row) => formatMoney(row.denomination, row.currency) },
                  { name: t.country, cell: ({ country }) => country },
                  ...figureColumns<Statement['rows'][number]>(({ currency }) => currency),
                ]}
              />
            </Card>
          </>
        )}
      </Loaded>
    </Screen>
  );
}
