import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { poolName } from '../api/pools';
import { useFound } from '../api/stored';
import type { StoredPool } from '../api/types';
import { formatMoment, formatNumber } from '../format';
import { TextField } from '../parts/fields';
import { Empty, Loaded } from '../parts/loaded';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.pools;
export const POOLS = '/api/gift/admin/pools';

export default function Pools() {
  const navigate = useNavigate();
  const [q, setQ] = useState('');
  const pools = useFound<StoredPool>(POOLS, q);
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
      <Card>
        <div className="stack">
          <TextField label={texts.search} type="search" value={q} onValue={setQ} />
          <Loaded
            query={pools}
            isEmpty={({ data }) => data.length === 0}
            empty={<Empty title={texts.nothingFound} />}
          >
            {({ data }) => (
              <Table
                caption={texts.nav.pools}
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: t.product,
                    isHead: true,
                    cell: (pool) => <Link to={`/pools/${pool.id}`}>{poolName(pool)}</Link>,
                  },
                  { name: t.owner, cell: ({ owner }) => owner },
                  {
                    name: t.cards,
                    isNumber: true,
                    cell: ({ inventories }) =>
                      formatNumber(inventories.reduce((sum, { available }) => sum + available, 0)),
                  },
                  { name: texts.editor.changed, cell: ({ updated_at }) => formatMoment(updated_at) },
                ]}
              />
            )}
          </Loaded>
        </div>
      </Card>
    </Screen>
  );
}
