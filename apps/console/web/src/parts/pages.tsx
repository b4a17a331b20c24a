import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { texts } from '../texts';
import { Failed, Loading } from './loaded';

interface Props<T> {
  query: UseInfiniteQueryResult<InfiniteData<{ data: T[] }>>;
  empty: ReactNode;
  /** The names of one and several rows. */
  counted?: readonly [string, string];
  children: (rows: T[]) => ReactNode;
}

/** A list that is read page by page, with the number of its entries and a button for more of them. */
export function Pages<T>({ query, empty, counted, children }: Props<T>) {
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      {query.isPending && <Loading lines={6} />}
      {query.isError && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && empty}
      {rows.length > 0 && (
        <>
          <p className="hint" role="status">
            {texts.shown(rows.length, query.hasNextPage, counted)}
          </p>
          {children(rows)}
          {query.hasNextPage && (
            <div className="actions">
              <button
                type="button"
                className="button"
                aria-disabled={query.isFetchingNextPage}
                onClick={() => query.isFetchingNextPage || void query.fetchNextPage()}
              >
                {texts.more}
              </button>
            </div>
          )}
        </>
      )}
    </>
  );
}
