import { Link, useSearchParams } from 'react-router';
import { download } from '../api/http';
import { usePoolNames } from '../api/pools';
import { useStatement } from '../api/statements';
import type { Statement } from '../api/types';
import { formatDaysOfMonth, formatMoney, formatMonth } from '../format';
import { SelectField } from '../parts/fields';
import { Empty, Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card, Screen } from '../parts/screen';
import {
  CARD_FIGURES,
  figureColumns,
  LINK_FIGURES,
  LinkCosts,
  TotalsByCurrency,
} from '../parts/statement-figures';
import { RowName, Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.statements;
const MONTHS = 36;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;
/** The latest months, this one first, as YYYY-MM in UTC. */
function latestMonths(): string[] {
  const now = new Date();
  return Array.from({ length: MONTHS }, (_, ago) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)).toISOString().slice(0, 7),
  );
}

export default function Statements() {
  const { attempt } = useNotices();
  const [params, setParams] = useSearchParams();
  const months = latestMonths();
  const given = params.get('month') ?? '';
  const month = MONTH.test(given) ? given : months[0]!;
  const statement = useStatement(month);
  const nameOf = usePoolNames();
  const save = (path: string, extension: string, headers = {}) =>
    attempt(download(path, `statement-${month}.${extension}`, { headers }));
  return (
    <Screen
      title={texts.nav.statements}
      intro={t.intro}
      zone="UTC"
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
          hint={t.days(formatDaysOfMonth(month))}
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
              title={t.costs}
              note={`${t.costsNote} ${closed ? t.closedNote : t.openNote}`}
            >
              <LinkCosts rows={rows} />
            </Card>
            <Card className="dense" title={t.stock} note={t.sumNote}>
              <TotalsByCurrency caption={t.stock} rows={rows} figures={CARD_FIGURES} />
            </Card>
            {([CARD_FIGURES, LINK_FIGURES] as const).map((figures) => {
              const title = figures === CARD_FIGURES ? t.cardsByPool : t.linksByPool;
              return (
                <Card key={title} className="dense" title={title}>
                  <Table
                    caption={title}
                    rows={rows}
                    keyOf={({ pool_id, currency, country, denomination }) =>
                      [pool_id, currency, country, denomination].join()
                    }
                    columns={[
                      {
                        name: t.pool,
                        isHead: true,
                        cell: ({ pool_id }) => <RowName name={nameOf(pool_id)}>{nameOf(pool_id)}</RowName>,
                      },
                      { name: t.value, cell: (row) => formatMoney(row.denomination, row.currency) },
                      { name: t.country, cell: ({ country }) => country },
                      ...figureColumns<Statement['rows'][number]>(figures),
                    ]}
                  />
                </Card>
              );
            })}
          </>
        )}
      </Loaded>
    </Screen>
  );
}
