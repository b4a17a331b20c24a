import { useQuery } from '@tanstack/react-query';
import { useLiveInterval } from '../parts/live';
import { get } from './http';
import type { CardStock, Inventory } from './types';

/** The rates of the account's card values, or of those of one pool. */
export function useStock(poolId?: string) {
  return useQuery({
    queryKey: ['stock-rates', poolId],
    queryFn: ({ signal }) =>
      get<CardStock[]>('/api/stock', poolId === undefined ? undefined : { pool_id: poolId }, signal),
    ...useLiveInterval(),
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

/** In how many days the stock runs out; 0 if it has, null if none was used recently. */
export const runsOutIn = ({ available, per_day }: Pick<CardStock, 'available' | 'per_day'>): number | null =>
  available === 0 ? 0 : per_day === null ? null : available / per_day;

export const rateOf = (rates: CardStock[] | undefined, poolId: string, entry: Inventory) =>
  rates?.find(
    ({ pool_id, denomination, currency, country }) =>
      pool_id === poolId &&
      denomination === entry.denomination &&
      currency === entry.currency &&
      country === entry.country,
  );
