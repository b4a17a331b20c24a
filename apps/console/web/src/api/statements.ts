import { useQuery } from '@tanstack/react-query';
import { useLiveInterval } from '../parts/live';
import { perkway, responseOf } from './perkway';

/** Reads the statement of a month in UTC. */
export const useStatement = (month: string) =>
  useQuery({
    queryKey: ['statement', month],
    queryFn: ({ signal }) => responseOf(perkway.gift.getStatement({ month }, { signal })),
    ...useLiveInterval(),
  });
