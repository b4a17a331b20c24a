import { useQuery } from '@tanstack/react-query';
import { perkway, responseOf } from './perkway';

const TEN_MINUTES = 600_000;

/** Paths to look up a single perk: reading whole collections for a few pictures would be too much. */
export interface PerkPlace {
  perkId: string;
  campaignId?: string;
  collectionId?: string;
}
type Media = { banner?: string | null; logo?: string | null } | null;

const pictureOf = (media: Media | undefined) => media?.logo ?? media?.banner ?? null;

async function ofCampaign(campaignId: string, signal: AbortSignal): Promise<[string, string | null][]> {
  const { incentives } = await responseOf(perkway.boost.getTeasers({ campaignId }, { signal }));
  return incentives.map(({ perkId, media }) => [perkId, pictureOf(media)]);
}

async function ofCollection(
  { perkId, collectionId }: PerkPlace,
  signal: AbortSignal,
): Promise<[string, string | null]> {
  const perk = perkway.perks.getPerkOfCollection({ collectionId: collectionId!, perkId }, { signal });
  return [perkId, pictureOf((await responseOf(perk)).relations.media)];
}

/** Loads the pictures of a few perks by id. A perk that no longer exists has none. */
export function usePictures(places: PerkPlace[]): Map<string, string | null> {
  const { data } = useQuery<Map<string, string | null>>({
    queryKey: ['pictures', places],
    enabled: places.length > 0,
    staleTime: TEN_MINUTES,
    placeholderData: (before) => before,
    queryFn: async ({ signal }) => {
      const campaigns = [...new Set(places.flatMap(({ campaignId }) => campaignId ?? []))];
      const found = await Promise.allSettled([
        ...campaigns.map((id) => ofCampaign(id, signal)),
        ...places
          .filter(({ campaignId, collectionId }) => !campaignId && collectionId)
          .map(async (place) => [await ofCollection(place, signal)] satisfies [string, string | null][]),
      ]);
      return new Map(found.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])));
    },
  });
  return data ?? new Map<string, string | null>();
}
