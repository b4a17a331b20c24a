import { useQuery } from '@tanstack/react-query';
import { get } from './http';
import type { PerkCollection } from './types';

export const collectionPath = (id: string) => `/api/perks/perk-collections/${encodeURIComponent(id)}`;

/** Reads a collection as customers see it; the console suppresses the view. */
export const readCollection = (id: string, signal?: AbortSignal) =>
  get<PerkCollection>(collectionPath(id), { show_coupon_perks: 'true' }, signal);

export const useCollectionIds = () =>
  useQuery({
    queryKey: ['collections'],
    queryFn: ({ signal }) => get<string[]>('/api/perks/perk-collections', undefined, signal),
  });
