import { useQuery, useQueryClient } from '@tanstack/react-query';
import { perkway, responseOf } from './perkway';
import { refreshGiftCards } from './stock';

const WATCH_MS = 1_000;

export const withdrawalsKey = (poolId: string) => ['withdrawals', poolId];

/** The last withdrawals of a pool, read again while one runs. */
export function useWithdrawals(poolId: string) {
  const client = useQueryClient();
  return useQuery({
    queryKey: withdrawalsKey(poolId),
    queryFn: async ({ signal }) => {
      const list = await responseOf(perkway.gift.listWithdrawals({ poolId }, { signal }));
      void refreshGiftCards(client);
      return list;
    },
    refetchInterval: ({ state }) => (state.data?.some((one) => one.state === 'running') ? WATCH_MS : false),
  });
}
