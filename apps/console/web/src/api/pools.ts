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

/** A pool has no name of its own: that of its product, else its id. */
export const poolName = ({ id, product }: Pick<Pool, 'id' | 'product'>) => product?.name ?? id.slice(0, 8);
