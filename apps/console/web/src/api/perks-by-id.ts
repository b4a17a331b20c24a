import { useQuery, useQueryClient } from '@tanstack/react-query';
import { keyOf, PERKS } from './managed';
import { perkway, responseOf } from './perkway';
import type { StoredPerk } from './types';

type Perks = ReadonlyMap<string, StoredPerk>;
/** Maximum number of ids in a request. */
const IDS = 100;
const KEY = [...keyOf(PERKS), 'by-id'];

/** Reads perks by id, to show their names and pictures. A perk that does not exist, or no longer, is not in the map. */
export function usePerks(ids: readonly string[]): Perks {
  const client = useQueryClient();
  const wanted = [...new Set(ids)].sort();
  const { data } = useQuery<Perks>({
    queryKey: [...KEY, wanted],
    enabled: wanted.length > 0,
    placeholderData: (before) => before,
    queryFn: async ({ signal }) => {
      // Reads only perks that no fresh query has, so adding one perk to a long list reads one perk.
      const fresh = client.getQueryCache().findAll({ queryKey: KEY, stale: false });
      const known = new Map(fresh.flatMap(({ state }) => [...((state.data as Perks | undefined) ?? [])]));
      const missing = wanted.filter((id) => !known.has(id));
      const pages = await Promise.all(
        Array.from({ length: Math.ceil(missing.length / IDS) }, (_, page) => {
          const some = missing.slice(page * IDS, (page + 1) * IDS);
          return responseOf(perkway.perks.listStoredPerks({ ids: some.join(), limit: IDS }, { signal }));
        }),
      );
      const found = new Map(pages.flatMap((page) => page.data).map((perk) => [perk.id, perk]));
      return new Map(
        wanted.flatMap((id) => {
          const perk = known.get(id) ?? found.get(id);
          return perk ? [[id, perk] as const] : [];
        }),
      );
    },
  });
  return data ?? new Map<string, StoredPerk>();
}
