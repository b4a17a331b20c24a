import { LOW_STOCK_DAYS } from '@perkway/domain/low-stock';
import { useQuery } from '@tanstack/react-query';
import { get } from '../api/http';
import type { CardStock, Inventory } from '../api/types';
import { texts } from '../texts';
import { useLiveInterval } from './live';

const t = texts.giftCards;

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

export const rateOf = (rates: CardStock[] | undefined, poolId: string, entry: Inventory) =>
  rates?.find(
    ({ pool_id, denomination, currency, country }) =>
      pool_id === poolId &&
      denomination === entry.denomination &&
      currency === entry.currency &&
      country === entry.country,
  );

/** Says how long stock lasts. Says nothing while it is unknown. */
export function Lasts({ stock }: { stock: Pick<CardStock, 'available' | 'days_left'> | undefined }) {
  if (!stock) return null;
  const { available, days_left } = stock;
  if (available === 0) return <span className="badge bad">{t.noneLeft}</span>;
  if (days_left === null) return <span className="hint">{t.noPace}</span>;
  const tone = days_left < 3 ? 'badge bad' : days_left < LOW_STOCK_DAYS ? 'badge warn' : undefined;
  return <span className={tone}>{t.daysLeft(days_left)}</span>;
}
