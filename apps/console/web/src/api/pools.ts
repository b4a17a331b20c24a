import { useQuery } from '@tanstack/react-query';
import { useLiveInterval } from '../parts/live';
import { perkway, responseOf } from './perkway';
import type { Pool } from './types';

export const usePools = (enabled = true) =>
  useQuery({
    enabled,
    queryKey: ['pools'],
    queryFn: ({ signal }) => responseOf(perkway.gift.getGiftCardPools({}, { signal })),
    ...useLiveInterval(),
  });

/** Returns the name of the pool's product, or else the first 8 characters of the pool's id. */
export const poolName = ({ id, product }: Pick<Pool, 'id' | 'product'>) => product?.name ?? id.slice(0, 8);

/** Returns a function from the id of a pool to its name, or to the start of the id while the pool is unknown. */
export function usePoolNames(): (id: string) => string {
  const pools = usePools().data;
  return (id) => {
    const pool = pools?.find((one) => one.id === id);
    return pool ? poolName(pool) : id.slice(0, 8);
  };
}
