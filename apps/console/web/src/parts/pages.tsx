import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatNumber } from '../format';
import { texts } from '../texts';
import { Failed, Loading } from './loaded';

interface Props<T> {
  query: UseInfiniteQueryResult<InfiniteData<{ data: T[] }>>;
  empty: ReactNode;
  children: (rows: T[]) => ReactNode;
}

/** A list that is read page by page, with the number of its entries and a button for more of them. */
export function Pages<T>({ query, empty, children }: Props<T>) {
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      {query.isPending && <Loading lines={6} />}
      {query.isError && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && empty}
      {rows.length > 0 && (
        <>
          {children(rows)}
          <div className="actions">
            {query.hasNextPage && (
              <button
                type="button"
                className="button"
                aria-disabled={query.isFetchingNextPage}
                onClick={() => query.isFetchingNextPage || void query.fetchNextPage()}
              >
                {texts.more}
              </button>
            )}
            <span className="hint" role="status">
              {texts.shown(formatNumber(rows.length), rows.length === 1, query.hasNextPage)}
            </span>
          </div>
        </>
      )}
    </>
  );
}
