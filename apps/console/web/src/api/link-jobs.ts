import { queryOptions } from '@tanstack/react-query';
import { get } from './http';
import type { LinkJob, LinkStates } from './types';

export const JOBS_KEY = ['link-jobs'];
export const RESULTS_KEY = [...JOBS_KEY, 'results'];

/** Counts what became of the links of a job. */
export const linksOfJob = ({ id, made }: Pick<LinkJob, 'id' | 'made'>) =>
  queryOptions({
    queryKey: ['links-of-job', id, made],
    queryFn: ({ signal }) => get<LinkStates>(`/api/link-jobs/${id}/links`, undefined, signal),
    staleTime: 0,
  });
