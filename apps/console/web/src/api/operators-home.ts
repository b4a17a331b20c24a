import { useQuery } from '@tanstack/react-query';
import { useLiveInterval } from '../parts/live';
import { get } from './http';
import type { OperatorsHome } from './types';

/** The traffic of every account, and the webhooks and link jobs that need attention, for operators. */
export const useOperatorsHome = () =>
  useQuery({
    queryKey: ['operators-home'],
    queryFn: ({ signal }) => get<OperatorsHome>('/api/operators-home', undefined, signal),
    ...useLiveInterval(),
  });
