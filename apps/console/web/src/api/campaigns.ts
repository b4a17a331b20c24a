import { useQuery } from '@tanstack/react-query';
import { all } from './http';
import type { Campaign } from './types';

export const useCampaigns = () =>
  useQuery({ queryKey: ['campaigns'], queryFn: () => all<Campaign>('/api/boost/campaigns') });
