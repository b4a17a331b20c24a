import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { loadRows, numberOf, within } from '../api/analytics';
import { poolName, usePools } from '../api/pools';
import type { Inventory, Pool } from '../api/types';
import { lastDays } from '../dates';
import { formatMoney, formatNumber } from '../format';
import { useLiveInterval } from '../parts/live';
import { Empty, Loaded } from '../parts/loaded';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { LinkJobs } from './link-jobs';
import { useMakeLinks } from './use-make-links';

const t = texts.giftCards;
const DAYS = 30;

/** Links created minus those that gave their card back, by pool, value and currency. */
function usePace() {
  const { now } = lastDays(DAYS);
  return useQuery({
    queryKey: ['pace', now],
    queryFn: async () => {
      const rows = await loadRows({
        measures: ['reward_links.count'],
        dimensions: [
          'reward_links.pool_id',
          'reward_links.denomination',
          'reward_links.currency',
          'reward_links.state',
        ],
        ...within('reward_links', now),
        limit: 10_000,
      });
      const pace = new Map<string, number>();
      for (const row of rows) {
        const key = [
          row['reward_links.pool_id'],
          Number(row['reward_links.denomination']),
          row['reward_links.currency'],
        ].join();
        const sign = { generated: 1, cancelled: -1, expired: -1 }[String(row['reward_links.state'])] ?? 0;
        pace.set(key, (pace.get(key) ?? 0) + sign * numberOf(row, 'reward_links.count'));
      }
      return pace;
    },
    ...useLiveInterval(),
  });
}

/**
 * Says how long the stock of an entry lasts. The usage is known by value and currency only, so entries of several
 * countries have one forecast, which names them.
 */
function Lasts({
  pool,
  entry,
  pace,
}: {
  pool: Pool;
  entry: Inventory;
  pace: Map<string, number> | undefined;
}) {
  const { denomination, currency, available } = entry;
  if (available === 0) return <span className="badge bad">{t.noneLeft}</span>;
  const used = pace?.get([pool.id, denomination, currency].join()) ?? 0;
  if (used <= 0) return <span className="hint">{pace ? t.noPace : ''}</span>;
  const shared = pool.inventories.filter(
    (other) => other.denomination === denomination && other.currency === currency,
  );
  const stock = shared.reduce((sum, other) => sum + other.available, 0);
  const days = Math.floor(stock / (used / DAYS));
  return (
    <>
      <span className={days < 3 ? 'badge bad' : days < 14 ? 'badge warn' : undefined}>
        {t.daysLeft(days)}
      </span>
      {shared.length > 1 && (
        <span className="hint"> {t.together(shared.map(({ country }) => country).join(', '))}</span>
      )}
    </>
  );
}

export default function GiftCards() {
  const pools = usePools();
  const pace = usePace();
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
                        cell: (entry) => <Lasts pool={pool} entry={entry} pace={pace.data} />,
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
