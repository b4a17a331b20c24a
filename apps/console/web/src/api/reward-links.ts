import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useLiveInterval } from '../parts/live';
import { perkway, responseOf, storedIfFound } from './perkway';
import type { LinkState } from './types';

/** Query key of everything about reward links. */
export const LINKS_KEY = ['reward-links'];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const SHORT_ID = /^[0-9a-f]{8}$/i;
const PAGE = 50;

/** The screen of the links, with this one open. */
export const pathOfLink = (id: string) => `/reward-links?link=${encodeURIComponent(id)}`;

interface Filters {
  /** The whole reference, the whole id, or its first 8 characters. */
  reference: string;
  state: string;
  pool_id: string;
  campaign_id: string;
  created_by: string;
}

export const useLink = (linkId: string | null) =>
  useQuery({
    queryKey: [...LINKS_KEY, 'one', linkId],
    queryFn: ({ signal }) => responseOf(perkway.gift.getIssuedRewardLink({ linkId: linkId! }, { signal })),
    enabled: linkId !== null,
    ...useLiveInterval(),
  });

export function useLinks({ state, ...filters }: Filters) {
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
  return useInfiniteQuery({
    queryKey: [...LINKS_KEY, 'list', state, filters],
    initialPageParam: '',
    queryFn: async ({ pageParam: cursor, signal }) => {
      // A reference may look like an id, so an unknown id is searched as a reference.
      if (UUID.test(filters.reference)) {
        const linkId = filters.reference;
        const found = await storedIfFound(perkway.gift.getIssuedRewardLink({ linkId }, { signal }));
        if (found) return { data: [found.body], next_cursor: null };
      }
      if (SHORT_ID.test(filters.reference) && !cursor) {
        const found = await responseOf(
          perkway.gift.listRewardLinks({ short_id: filters.reference, limit: PAGE }, { signal }),
        );
        if (found.data.length > 0) return { data: found.data, next_cursor: null };
      }
      const query = {
        ...given,
        ...(state && { state: state as LinkState }),
        ...(cursor && { cursor }),
        limit: PAGE,
      };
      return responseOf(perkway.gift.listRewardLinks(query, { signal }));
    },
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (before) => before,
    ...useLiveInterval(),
  });
}
