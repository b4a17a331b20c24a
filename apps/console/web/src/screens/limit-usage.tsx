import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '../api/http';
import { readUsage, usedOf } from '../api/limits';
import { CAMPAIGNS, POOLS } from '../api/managed';
import { allOf, perkway, responseOf } from '../api/perkway';
import { poolName } from '../api/pools';
import type { ApiKey, Limit } from '../api/types';
import { formatMoment } from '../format';
import { TextField } from '../parts/fields';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.limits;
/** Each value is one request. */
const MAX_VALUES = 50;
const LARGEST_PAGE = 200;

interface Value {
  value: string;
  name: string;
}
interface Props {
  limit: Limit;
  /** Whether the limit is one of the signed-in account, instead of one that an operator manages. */
  isOwn: boolean;
}

/** Reads the values that a limit counts separately. Those of journeys and references cannot be listed. */
async function valuesOf({ per, owner }: Limit, isOwn: boolean, signal: AbortSignal): Promise<Value[]> {
  const ofOwner = { owner, limit: LARGEST_PAGE };
  switch (per) {
    case 'account':
      return [{ value: '', name: owner }];
    case 'pool_id': {
      const pools = isOwn
        ? await responseOf(perkway.gift.getGiftCardPools({}, { signal }))
        : await allOf(POOLS.list(ofOwner, { signal }), MAX_VALUES);
      return pools.map((pool) => ({ value: pool.id, name: poolName(pool) }));
    }
    case 'campaign_id': {
      const campaigns = isOwn
        ? await allOf(perkway.boost.listCampaigns({ limit: LARGEST_PAGE }, { signal }), MAX_VALUES)
        : await allOf(CAMPAIGNS.list(ofOwner, { signal }), MAX_VALUES);
      return campaigns.map(({ id, name }) => ({ value: id, name }));
    }
    case 'key_id': {
      const keys = await get<ApiKey[]>(
        isOwn ? '/api/keys' : `/api/token/admin/accounts/${encodeURIComponent(owner)}/keys`,
        undefined,
        signal,
      );
      return keys
        .filter(({ rotated_to }) => rotated_to === null)
        .map(({ counted_as, name, last4 }) => ({ value: counted_as, name: name ?? `…${last4}` }));
    }
    case 'created_by': {
      // Anything may be a creator, so those of the latest links are shown.
      if (!isOwn) return [];
      const { data } = await responseOf(perkway.gift.listRewardLinks({ limit: LARGEST_PAGE }, { signal }));
      return [...new Set(data.map(({ created_by }) => created_by))].map((value) => ({ value, name: value }));
    }
    default:
      return [];
  }
}

const CAN_BE_LISTED: Limit['per'][] = ['account', 'pool_id', 'campaign_id', 'key_id'];

/** Shows what an account has used of a limit, for each value that it counts separately. */
export function LimitUsage({ limit, isOwn }: Props) {
  const values = useQuery({
    queryKey: ['limits', 'values', limit.per, limit.owner, isOwn],
    queryFn: ({ signal }) => valuesOf(limit, isOwn, signal),
  });
  const areListed = CAN_BE_LISTED.includes(limit.per);
  return (
    <>
      <Loaded query={values} isEmpty={(list) => list.length === 0} empty={areListed && <p>{t.noValues}</p>}>
        {(list) => <UsageTable limit={limit} isOwn={isOwn} values={list} />}
      </Loaded>
      {!areListed && <UsageOfOne limit={limit} isOwn={isOwn} />}
    </>
  );
}

function UsageOfOne({ limit, isOwn }: Props) {
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
      {wanted && <UsageTable limit={limit} isOwn={isOwn} values={[{ value: wanted, name: wanted }]} />}
    </>
  );
}

function UsageTable({ limit, isOwn, values }: Props & { values: Value[] }) {
  const shown = values.slice(0, MAX_VALUES);
  const usage = useQuery({
    // A changed limit counts anew.
    queryKey: ['limits', 'usage', limit, isOwn, shown.map(({ value }) => value)],
    queryFn: ({ signal }) =>
      Promise.all(
        shown.map(async ({ value, name }) => ({ name, ...(await readUsage(limit, isOwn, value, signal)) })),
      ),
    ...useLiveInterval(),
  });
  return (
    <Loaded query={usage}>
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
