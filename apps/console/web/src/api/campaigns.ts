import { useQuery } from '@tanstack/react-query';
import { allOf, perkway } from './perkway';

export const useCampaigns = () =>
  useQuery({ queryKey: ['campaigns'], queryFn: () => allOf(perkway.boost.listCampaigns({ limit: 200 })) });

/** Returns a function from the id of a campaign to its name, or to the id while it is unknown. */
export function useCampaignNames(): (id: string) => string {
  const campaigns = useCampaigns().data;
  return (id) => campaigns?.find((campaign) => campaign.id === id)?.name ?? id;
}
