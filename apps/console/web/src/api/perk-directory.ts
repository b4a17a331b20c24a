import { useQuery } from '@tanstack/react-query';
import { get } from './http';
import type { Perk, PerkCollection } from './types';

const TEN_MINUTES = 600_000;

export const collectionPath = (id: string) => `/api/perks/perk-collections/${encodeURIComponent(id)}`;

/** A collection as customers see it; the console asks so that nothing is counted. */
export const readCollection = (id: string, signal?: AbortSignal) =>
  get<PerkCollection>(collectionPath(id), { show_coupon_perks: 'true' }, signal);

export const useCollectionIds = () =>
  useQuery({
    queryKey: ['collections'],
    queryFn: ({ signal }) => get<string[]>('/api/perks/perk-collections', undefined, signal),
  });

/** The perks of the account's collections by id: for pictures and names beside numbers, which do without if it fails. */
export function usePerkDirectory(): Map<string, Perk> {
  const { data } = useQuery({
    queryKey: ['perk-directory'],
    staleTime: TEN_MINUTES,
    queryFn: async ({ signal }) => {
      const ids = await get<string[]>('/api/perks/perk-collections', undefined, signal);
      const collections = await Promise.all(ids.map((id) => readCollection(id, signal)));
      return new Map(collections.flatMap(({ perks }) => perks.map((perk) => [perk.id, perk] as const)));
    },
  });
  return data ?? new Map<string, Perk>();
}

export const pictureOf = (perk: Perk | undefined) =>
  perk?.relations.media.logo ?? perk?.relations.media.banner ?? null;
