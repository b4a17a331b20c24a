import { URGENT_STOCK_DAYS } from '@perkway/domain/low-stock';
import { useQueries, useQuery, type QueryClient } from '@tanstack/react-query';
import { useLiveInterval } from '../parts/live';
import { get } from './http';
import { LINKS_KEY } from './reward-links';
import type { CardStock, Inventory } from './types';

const STOCK_RATES_KEY = 'stock-rates';

/** Reads again what a change of cards or reward links changes: pools, stock, links and statements. */
export async function refreshGiftCards(client: QueryClient): Promise<void> {
  const keys = [['pools'], ['stock'], [STOCK_RATES_KEY], ['statement'], ['links-of-job'], LINKS_KEY];
  await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
}

/** The rates of the account's card values, or of those of one pool. */
export function useStock(poolId?: string) {
  return useQuery({
    queryKey: [STOCK_RATES_KEY, poolId],
    queryFn: ({ signal }) =>
      get<CardStock[]>('/api/stock', poolId === undefined ? undefined : { pool_id: poolId }, signal),
    ...useLiveInterval(),
  });
}

/** The rates of pools of any account, for operators, with one request for each list of pool ids. */
export function useStockOf(lists: string[][]): CardStock[] {
  const live = useLiveInterval();
  return useQueries({
    queries: lists.map((ids) => ({
      queryKey: [STOCK_RATES_KEY, ids],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get<CardStock[]>(
          `/api/stock?${new URLSearchParams(ids.map((id) => ['pool_id', id]))}`,
          undefined,
          signal,
        ),
      ...live,
    })),
    combine: (found) => found.flatMap(({ data }) => data ?? []),
  });
}

/** The low card values of all pools, for operators. */
export function useLowStock() {
  return useQuery({
    queryKey: ['low-stock'],
    queryFn: ({ signal }) => get<CardStock[]>('/api/low-stock', undefined, signal),
    ...useLiveInterval(),
  });
}

export type StockRate = Pick<CardStock, 'available' | 'per_day' | 'days_left'>;

/** Days until the stock runs out at its rate, which may be chance: 0 if it has, null if none was used recently. */
export function runsOutIn({ available, per_day }: StockRate): number | null {
  if (available === 0) return 0;
  return per_day === null ? null : available / per_day;
}

/** Whether the stock has run out or does so within days. A rate with too little history may be chance, so it does not count. */
export const isUrgentStock = ({ available, days_left }: StockRate): boolean =>
  available === 0 || (days_left !== null && days_left < URGENT_STOCK_DAYS);

export const rateOf = (rates: CardStock[] | undefined, poolId: string, entry: Inventory) =>
  rates?.find(
    ({ pool_id, denomination, currency, country }) =>
      pool_id === poolId &&
      denomination === entry.denomination &&
      currency === entry.currency &&
      country === entry.country,
  );
