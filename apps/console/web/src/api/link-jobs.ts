import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { formatMoment, formatMoney } from '../format';
import { useLiveInterval } from '../parts/live';
import { texts } from '../texts';
import { get, type Page } from './http';
import { useSession } from './session';
import type { LinkJob, LinkOfJob, LinkStates } from './types';

export const JOBS_KEY = ['link-jobs'];
/** The number of jobs that screens show, the latest ones. */
export const LISTED_JOBS = 50;
const RUNNING_MS = 1_000;
const WAITING_MS = 15_000;
const APPROVALS_MS = 60_000;

export const jobDetails = ({ created_at, denomination, currency }: LinkJob) =>
  texts.giftCards.job(formatMoment(created_at), formatMoney(denomination, currency));
/** The title of a job on every screen. */
export const jobTitle = (job: LinkJob) => job.name ?? jobDetails(job);

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

/** Counts the jobs that the signed-in person may approve or reject, among the latest 50 that wait. */
export function usePendingApprovals() {
  const { person, viewedBy } = useSession();
  return useQuery({
    queryKey: [...JOBS_KEY, 'pending-approvals'],
    queryFn: async ({ signal }) => {
      const { data } = await get<Page<LinkJob>>('/api/link-jobs', { state: 'awaiting_approval' }, signal);
      return data.filter(({ approval }) => approval?.may_decide).length;
    },
    enabled: person !== null && viewedBy === null,
    refetchInterval: APPROVALS_MS,
  });
}

/** Counts what became of the links of a job. */
export const linkCountsOf = ({ id, made }: Pick<LinkJob, 'id' | 'made'>) =>
  queryOptions({
    queryKey: ['links-of-job', id, made],
    queryFn: ({ signal }) => get<LinkStates>(`/api/link-jobs/${id}/links`, undefined, signal),
    staleTime: 0,
  });

export const useLinkJob = (id: string) =>
  useQuery({
    queryKey: [...JOBS_KEY, id],
    queryFn: ({ signal }) => get<LinkJob>(`/api/link-jobs/${id}`, undefined, signal),
    refetchInterval: ({ state }) => state.data?.state === 'running' && RUNNING_MS,
  });

/** Lists the links of a job in `state`, or all of them if `state` is empty. */
export const useLinksOfJob = (id: string, state: string) =>
  useInfiniteQuery({
    queryKey: ['links-of-job', id, 'list', state],
    initialPageParam: '',
    queryFn: ({ pageParam: cursor, signal }) => {
      const query = { ...(state && { state }), ...(cursor && { cursor }) };
      return get<Page<LinkOfJob>>(`/api/link-jobs/${id}/reward-links`, query, signal);
    },
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (before) => before,
    staleTime: 0,
    ...useLiveInterval(),
  });
