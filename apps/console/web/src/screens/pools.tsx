import { Link, useNavigate } from 'react-router';
import { POOLS } from '../api/managed';
import { poolName } from '../api/pools';
import { formatNumber } from '../format';
import { Screen } from '../parts/screen';
import { ResourceList } from '../parts/resource-list';
import { texts } from '../texts';

const t = texts.pools;

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
            cell: (pool) => <Link to={`/pools/${pool.id}`}>{poolName(pool)}</Link>,
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
