import { useQuery } from '@tanstack/react-query';
import { all, sendRequest, get, ApiError, type HttpResponse, type Page } from './http';

/** Reads and writes managed resources, the same way on every host. */
export const readResource = <T>(path: string, signal?: AbortSignal): Promise<HttpResponse<T>> =>
  sendRequest<T>(path, { signal });

/** Returns null if it does not exist. */
export async function readResourceIfFound<T>(path: string): Promise<HttpResponse<T> | null> {
  try {
    return await readResource<T>(path);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Sends the ETag that was read, so that a concurrent change is not overwritten. */
export const upsertResource = <T>(
  path: string,
  body: object,
  etag: string | null,
): Promise<HttpResponse<T>> =>
  sendRequest<T>(path, { method: 'PUT', body, headers: etag ? { 'if-match': etag } : {} });

export const deleteResource = (path: string, etag: string | null) =>
  sendRequest<void>(path, { method: 'DELETE', headers: etag ? { 'if-match': etag } : {} });

/** Reads one page of matches, enough for a search field. */
export const useFound = <T>(path: string, q: string, query: Record<string, string> = {}) =>
  useQuery({
    queryKey: ['found', path, q, query],
    queryFn: ({ signal }) => get<Page<T>>(path, { q, limit: 100, ...query }, signal),
    placeholderData: (before) => before,
  });

export const useAll = <T>(path: string) => useQuery({ queryKey: ['all', path], queryFn: () => all<T>(path) });
