import { useQuery } from '@tanstack/react-query';
import { perkway, responseOf } from './perkway';

/** Reads a collection as customers see it; the console suppresses the view. */
export const readCollection = (collectionId: string, signal?: AbortSignal) =>
  responseOf(perkway.perks.getPerkCollection({ collectionId, show_coupon_perks: true }, { signal }));

export const useCollectionIds = () =>
  useQuery({
    queryKey: ['collections'],
    queryFn: ({ signal }) => responseOf(perkway.perks.listPerkCollections({}, { signal })),
  });
