import { Link } from 'react-router';
import { poolName, usePools } from '../api/pools';
import { formatMoney, formatMonth, formatNumber } from '../format';
import { useStatement } from '../api/statements';
import { rateOf, useStock } from '../api/stock';
import { Lasts } from '../parts/lasts';
import { Empty, Loaded } from '../parts/loaded';
import { Card, Screen } from '../parts/screen';
import { LinkCosts } from '../parts/statement-figures';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { LinkJobResults } from './link-job-results';
import { LinkJobs } from './link-jobs';
import { useMakeLinks } from './use-make-links';

const t = texts.giftCards;

/** What the links of this month cost so far. */
function CostsThisMonth() {
  const month = new Date().toISOString().slice(0, 7);
  const statement = useStatement(month);
  return (
    <Card
      className="dense"
      title={texts.statements.costs}
      note={`${texts.statements.costsIn(formatMonth(month))} ${texts.statements.costsNote}`}
      actions={
        <Link to={`/statements?month=${month}`}>{texts.overview.sent.statement(formatMonth(month))}</Link>
      }
    >
      <Loaded
        query={statement}
        lines={2}
        isEmpty={({ rows }) => rows.length === 0}
        empty={<p>{t.noCosts}</p>}
      >
        {({ rows }) => <LinkCosts rows={rows} />}
      </Loaded>
    </Card>
  );
}

export default function GiftCards() {
  const pools = usePools();
  const stock = useStock();
  const make = useMakeLinks(pools.data);
  return (
    <Screen title={texts.nav.giftCards} intro={t.intro} actions={make.buttons}>
      <Loaded
        query={pools}
        isEmpty={(list) => list.length === 0}
        empty={
          <Empty title={t.emptyTitle}>
            <p>{t.emptyText}</p>
          </Empty>
        }
      >
        {(list) => (
          <>
            <CostsThisMonth />
            <LinkJobResults />
            {list.map((pool) => (
              <Card
                key={pool.id}
                title={poolName(pool)}
                note={`${t.outstandingNote} ${t.lastsNote}`}
                actions={<Link to={`/reward-links?pool_id=${pool.id}`}>{t.linksOf}</Link>}
              >
                {pool.inventories.length === 0 ? (
                  <p>{t.noCards}</p>
                ) : (
                  <Table
                    caption={`${t.stock}: ${poolName(pool)}`}
                    rows={pool.inventories}
                    keyOf={({ denomination, currency, country }) => [denomination, currency, country].join()}
                    columns={[
                      {
                        name: t.value,
                        isHead: true,
                        cell: ({ denomination, currency }) => formatMoney(denomination, currency),
                      },
                      { name: t.country, cell: ({ country }) => country },
                      { name: t.available, isNumber: true, cell: ({ available }) => formatNumber(available) },
                      {
                        name: t.reserved,
                        isNumber: true,
                        cell: ({ reserved, denomination, currency }) => (
                          <>
                            {formatNumber(reserved)}
                            {reserved > 0 && (
                              <span className="hint"> {formatMoney(reserved * denomination, currency)}</span>
                            )}
                          </>
                        ),
                      },
                      { name: t.redeemed, isNumber: true, cell: ({ redeemed }) => formatNumber(redeemed) },
                      {
                        name: t.lasts,
                        isNumber: true,
                        cell: (entry) => <Lasts stock={rateOf(stock.data, pool.id, entry)} />,
                      },
                    ]}
                  />
                )}
              </Card>
            ))}
          </>
        )}
      </Loaded>
      <LinkJobs />
      {make.dialog}
    </Screen>
  );
}
