import { LOW_STOCK } from '@perkway/domain/low-stock';
import { Link, useNavigate } from 'react-router';
import { POOLS } from '../api/managed';
import { poolName } from '../api/pools';
import type { Pool } from '../api/types';
import { formatMoney, formatNumber } from '../format';
import { Screen } from '../parts/screen';
import { ResourceList } from '../parts/resource-list';
import { texts } from '../texts';

const t = texts.pools;

/** Shows the value with the fewest cards, which the total hides, and how many other values are low. */
function Low({ inventories }: Pick<Pool, 'inventories'>) {
  const [least, ...others] = inventories
    .filter(({ available }) => available < LOW_STOCK)
    .toSorted((one, other) => one.available - other.available);
  if (!least) return null;
  const { denomination, currency, country, available } = least;
  return (
    <span className={`badge ${available === 0 ? 'bad' : 'warn'}`}>
      {t.low(`${formatMoney(denomination, currency)}, ${country}`, formatNumber(available), others.length)}
    </span>
  );
}

export default function Pools() {
  const navigate = useNavigate();
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
                <Link to={`/pools/${pool.id}`}>{poolName(pool)}</Link> <Low inventories={pool.inventories} />
                <br />
                <span className="hint">{pool.id}</span>
              </>
            ),
          },
          {
            name: t.cards,
            isNumber: true,
            cell: ({ inventories }) =>
              formatNumber(inventories.reduce((sum, { available }) => sum + available, 0)),
          },
        ]}
      />
    </Screen>
  );
}
