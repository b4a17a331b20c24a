import { useQuery } from '@tanstack/react-query';
import { useLiveInterval } from '../parts/live';
import { perkway, responseOf } from './perkway';
import type { Pool } from './types';

export const usePools = () =>
  useQuery({
    queryKey: ['pools'],
    queryFn: ({ signal }) => responseOf(perkway.gift.getGiftCardPools({}, { signal })),
    ...useLiveInterval(),
  });

/** Returns the name of the pool's product, or else the pool's id. */
export const poolName = ({ id, product }: Pick<Pool, 'id' | 'product'>) => product?.name ?? id.slice(0, 8);
