import { useQuery } from '@tanstack/react-query';
import { perkway, responseOf } from './perkway';

const TEN_MINUTES = 600_000;

/** Where to look up a perk: in its campaign, or else in its collection, of which only this perk is read. */
export interface PerkPlace {
  perkId: string;
  campaignId?: string;
  collectionId?: string;
}
type Media = { banner?: string | null; logo?: string | null } | null;

const pictureOf = (media: Media | undefined) => media?.logo ?? media?.banner ?? null;

export interface PerkInfo {
  title: string;
  picture: string | null;
}

async function ofCampaign(campaignId: string, signal: AbortSignal): Promise<[string, PerkInfo][]> {
  const { incentives } = await responseOf(perkway.boost.getTeasers({ campaignId }, { signal }));
  return incentives.map(({ perkId, title, media }) => [perkId, { title, picture: pictureOf(media) }]);
}

async function ofCollection(
  { perkId, collectionId }: PerkPlace,
  signal: AbortSignal,
): Promise<[string, PerkInfo]> {
  const { title, relations } = await responseOf(
    perkway.perks.getPerkOfCollection({ collectionId: collectionId!, perkId }, { signal }),
  );
  return [perkId, { title, picture: pictureOf(relations.media) }];
}

/** Returns titles and pictures by perk id; undefined until they are loaded. A perk that cannot be read is missing. */
export const usePerkInfo = (places: PerkPlace[]): Map<string, PerkInfo> | undefined =>
  useQuery<Map<string, PerkInfo>>({
    queryKey: ['perk-info', places],
    enabled: places.length > 0,
    staleTime: TEN_MINUTES,
    placeholderData: (before) => before,
    queryFn: async ({ signal }) => {
      const campaigns = [...new Set(places.flatMap(({ campaignId }) => campaignId ?? []))];
      const found = await Promise.allSettled([
        ...campaigns.map((id) => ofCampaign(id, signal)),
        ...places
          .filter(({ campaignId, collectionId }) => !campaignId && collectionId)
          .map(async (place) => [await ofCollection(place, signal)] satisfies [string, PerkInfo][]),
      ]);
      return new Map(found.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])));
    },
  }).data;
