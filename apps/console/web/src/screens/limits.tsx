import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useCampaigns } from '../api/campaigns';
import { get } from '../api/http';
import { readUsage, ruleOf, usedOf, useLimits } from '../api/limits';
import { perkway, responseOf } from '../api/perkway';
import { poolName, usePools } from '../api/pools';
import { useSession } from '../api/session';
import type { ApiKey, Limit } from '../api/types';
import { formatMoment } from '../format';
import { TextField } from '../parts/fields';
import { useLiveInterval } from '../parts/live';
import { Empty, Loaded } from '../parts/loaded';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.limits;
/** Each value is one request. */
const MOST_VALUES = 50;

interface Value {
  value: string;
  name: string;
}

export default function Limits() {
  const limits = useLimits();
  const isOperator = useSession().role === 'ADMIN';
  return (
    <Screen title={texts.nav.limits} intro={isOperator ? t.introForOperators : t.intro}>
      <Loaded
        query={limits}
        isEmpty={(list) => list.length === 0}
        empty={
          <Empty title={t.emptyTitle}>
            <p>{t.emptyText}</p>
          </Empty>
        }
      >
        {(list) => list.map((limit) => <LimitCard key={limit.id} limit={limit} />)}
      </Loaded>
    </Screen>
  );
}

function LimitCard({ limit }: { limit: Limit }) {
  const { id, per, only } = limit;
  return (
    <Card title={id} note={t.only(only?.pool_id, only?.campaign_id)}>
      <div className="stack">
        <p>{ruleOf(limit)}</p>
        {per === 'account' ? (
          <Usage limit={limit} values={[{ value: '', name: t.pers.account }]} />
        ) : per === 'pool_id' ? (
          <OfPools limit={limit} />
        ) : per === 'campaign_id' ? (
          <OfCampaigns limit={limit} />
        ) : per === 'key_id' ? (
          <OfKeys limit={limit} />
        ) : per === 'created_by' ? (
          <OfCreators limit={limit} />
        ) : (
          <OfOneValue limit={limit} />
        )}
      </div>
    </Card>
  );
}

function OfPools({ limit }: { limit: Limit }) {
  const pools = usePools();
  return (
    <Loaded query={pools}>
      {(list) => (
        <Usage limit={limit} values={list.map((pool) => ({ value: pool.id, name: poolName(pool) }))} />
      )}
    </Loaded>
  );
}

function OfCampaigns({ limit }: { limit: Limit }) {
  const campaigns = useCampaigns();
  return (
    <Loaded query={campaigns}>
      {(list) => <Usage limit={limit} values={list.map(({ id, name }) => ({ value: id, name }))} />}
    </Loaded>
  );
}

function OfKeys({ limit }: { limit: Limit }) {
  const keys = useQuery({
    queryKey: ['keys', '/api/keys'],
    queryFn: ({ signal }) => get<ApiKey[]>('/api/keys', undefined, signal),
  });
  return (
    <Loaded query={keys}>
      {(list) => (
        <Usage
          limit={limit}
          values={list
            .filter(({ rotated_to }) => rotated_to === null)
            .map(({ counted_as, name, last4 }) => ({ value: counted_as, name: name ?? `…${last4}` }))}
        />
      )}
    </Loaded>
  );
}

/** Anything may be a creator, so those of the latest links are shown, and others can be looked up. */
function OfCreators({ limit }: { limit: Limit }) {
  const links = useQuery({
    queryKey: ['creators'],
    queryFn: ({ signal }) => responseOf(perkway.gift.listRewardLinks({ limit: 200 }, { signal })),
  });
  return (
    <>
      <Loaded query={links}>
        {({ data }) => (
          <Usage
            limit={limit}
            values={[...new Set(data.map(({ created_by }) => created_by))].map((value) => ({
              value,
              name: value,
            }))}
          />
        )}
      </Loaded>
      <OfOneValue limit={limit} />
    </>
  );
}

function OfOneValue({ limit }: { limit: Limit }) {
  const [value, setValue] = useState('');
  const wanted = value.trim();
  return (
    <>
      <TextField
        label={t.valueOf(t.pers[limit.per])}
        type="search"
        maxLength={255}
        value={value}
        hint={t.valueHint}
        onValue={setValue}
      />
      {wanted && <Usage limit={limit} values={[{ value: wanted, name: wanted }]} />}
    </>
  );
}

function Usage({ limit, values }: { limit: Limit; values: Value[] }) {
  const shown = values.slice(0, MOST_VALUES);
  const usage = useQuery({
    queryKey: ['limits', limit.id, shown.map(({ value }) => value)],
    queryFn: ({ signal }) =>
      Promise.all(
        shown.map(async ({ value, name }) => ({ name, ...(await readUsage(limit, value, signal)) })),
      ),
    ...useLiveInterval(),
  });
  return (
    <Loaded query={usage} isEmpty={(rows) => rows.length === 0} empty={<p>{t.noValues}</p>}>
      {(rows) => (
        <Table
          caption={`${t.used}: ${limit.id}`}
          rows={rows}
          keyOf={({ value }) => value}
          columns={[
            { name: t.pers[limit.per], isHead: true, cell: ({ name }) => name },
            { name: t.used, isNumber: true, cell: (used) => usedOf(used) },
            {
              name: t.resets,
              cell: ({ resets_at }) => (resets_at === null ? t.never : formatMoment(resets_at)),
            },
          ]}
        />
      )}
    </Loaded>
  );
}
