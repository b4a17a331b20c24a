import { Link, useNavigate } from 'react-router';
import { POOLS, useSearch } from '../api/managed';
import { poolName } from '../api/pools';
import type { CardStock } from '../api/types';
import { formatMoney, formatNumber } from '../format';
import { runsOutIn, useLowStock, useStockOf } from '../api/stock';
import { Lasts } from '../parts/lasts';
import { Screen } from '../parts/screen';
import { ResourceList } from '../parts/resource-list';
import { useSearchFilters } from '../parts/search-filters';
import { texts } from '../texts';

const t = texts.pools;

/**
 * Shows the low value that is used up first, which the total hides, and how many other values are low. As in
 * Operations, a value that is left but not used gets no warning.
 */
function Low({ stocks }: { stocks: CardStock[] }) {
  const [least, ...others] = stocks;
  if (!least) return null;
  const { denomination, currency, country, available } = least;
  const tone = available === 0 ? 'bad' : runsOutIn(least) === null ? 'plain' : 'warn';
  return (
    <span className={`badge long ${tone}`}>
      {t.low(`${formatMoney(denomination, currency)}, ${country}`, formatNumber(available), others.length)}
    </span>
  );
}

export default function Pools() {
  const navigate = useNavigate();
  const low = useLowStock();
  const { valueOf } = useSearchFilters();
  // The list below shares this request.
  const found = useSearch(POOLS, { q: valueOf('q'), owner: valueOf('owner') });
  const rates = useStockOf(found.data?.pages.map(({ data }) => data.map(({ id }) => id)) ?? []);
  /** The first to run out comes first. */
  const lowOf = (poolId: string) => (low.data ?? []).filter(({ pool_id }) => pool_id === poolId);
  return (
    <Screen
      title={texts.nav.pools}
      intro={t.intro}
      actions={
        <button type="button" className="button main" onClick={() => void navigate('/pools/new')}>
          {t.create}
        </button>
      }
    >
      <ResourceList
        kind={POOLS}
        caption={texts.nav.pools}
        columns={[
          {
            name: t.product,
            isHead: true,
            cell: (pool) => (
              <>
                <Link to={`/pools/${pool.id}`}>{poolName(pool)}</Link>{' '}
                <span className="hint">{pool.id.slice(0, 8)}</span>
                <br />
                <Low stocks={lowOf(pool.id)} />
              </>
            ),
          },
          {
            name: t.cards,
            isNumber: true,
            cell: ({ inventories }) =>
              formatNumber(inventories.reduce((sum, { available }) => sum + available, 0)),
          },
          {
            name: texts.giftCards.lasts,
            isNumber: true,
            // The low value that the row names, or else the first to run out, in the words of the pool's screen.
            cell: ({ id }) => <Lasts stock={lowOf(id)[0] ?? rates.find(({ pool_id }) => pool_id === id)} />,
          },
        ]}
      />
    </Screen>
  );
}
