import { useQuery } from '@tanstack/react-query';
import { all, ask, get, Refusal, type Answer, type Page } from './http';

/** What operators manage, on every host alike. */
export const readStored = <T>(path: string, signal?: AbortSignal): Promise<Answer<T>> =>
  ask<T>(path, { signal });

/** Null where there is none. */
export async function readIfStored<T>(path: string): Promise<Answer<T> | null> {
  try {
    return await readStored<T>(path);
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return null;
    throw error;
  }
}

/** With the ETag of what was read, so that nobody's change in between is lost. */
export const putStored = <T>(path: string, body: object, etag: string | null): Promise<Answer<T>> =>
  ask<T>(path, { method: 'PUT', body, headers: etag ? { 'if-match': etag } : {} });

export const deleteStored = (path: string, etag: string | null) =>
  ask<void>(path, { method: 'DELETE', headers: etag ? { 'if-match': etag } : {} });

/** One page of what matches: enough to find something by typing. */
export const useFound = <T>(path: string, q: string, query: Record<string, string> = {}) =>
  useQuery({
    queryKey: ['found', path, q, query],
    queryFn: ({ signal }) => get<Page<T>>(path, { q, limit: 100, ...query }, signal),
    placeholderData: (before) => before,
  });

export const useAll = <T>(path: string) => useQuery({ queryKey: ['all', path], queryFn: () => all<T>(path) });
