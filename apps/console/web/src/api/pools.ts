import { useQuery } from '@tanstack/react-query';
import { useLiveInterval } from '../parts/live';
import { get } from './http';
import type { Pool } from './types';

export const usePools = () =>
  useQuery({
    queryKey: ['pools'],
    queryFn: ({ signal }) => get<Pool[]>('/api/gift/pools', undefined, signal),
    ...useLiveInterval(),
  });

/** Returns the name of the pool's product, or else the pool's id. */
export const poolName = ({ id, product }: Pick<Pool, 'id' | 'product'>) => product?.name ?? id.slice(0, 8);
