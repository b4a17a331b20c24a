import { useQuery } from '@tanstack/react-query';
import { allOf, perkway } from './perkway';

export const useCampaigns = () =>
  useQuery({ queryKey: ['campaigns'], queryFn: () => allOf(perkway.boost.listCampaigns({ limit: 200 })) });
