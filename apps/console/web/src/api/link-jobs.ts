import { queryOptions, useQuery } from '@tanstack/react-query';
import { get, type Page } from './http';
import type { LinkJob, LinkStates } from './types';

export const JOBS_KEY = ['link-jobs'];
/** The number of jobs that screens show, the latest ones. */
export const LISTED_JOBS = 50;
const RUNNING_MS = 1_000;
const WAITING_MS = 15_000;

/** Reads the latest jobs of the account, whichever window started them, and again while one changes. */
export const useLinkJobs = () =>
  useQuery({
    queryKey: JOBS_KEY,
    queryFn: async ({ signal }) => {
      const limit = String(LISTED_JOBS);
      const { data } = await get<Page<LinkJob>>('/api/link-jobs', { limit }, signal);
      return data;
    },
    refetchInterval: ({ state }) =>
      state.data?.some((job) => job.state === 'running')
        ? RUNNING_MS
        : state.data?.some((job) => job.state === 'awaiting_approval') && WAITING_MS,
  });

/** Counts what became of the links of a job. */
export const linksOfJob = ({ id, made }: Pick<LinkJob, 'id' | 'made'>) =>
  queryOptions({
    queryKey: ['links-of-job', id, made],
    queryFn: ({ signal }) => get<LinkStates>(`/api/link-jobs/${id}/links`, undefined, signal),
    staleTime: 0,
  });
