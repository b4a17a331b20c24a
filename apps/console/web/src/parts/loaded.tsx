import { useEffect, useState, type ReactNode } from 'react';
import { ApiError } from '../api/http';
import { texts } from '../texts';

const SLOW_MS = 4_000;

/** After a while, says that loading continues. */
export function Loading({ lines = 3 }: { lines?: number }) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" role="status">
      <span className="sr">{texts.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className="skeleton" />
      ))}
      {isSlow && <p className="hint">{texts.slow}</p>}
    </div>
  );
}

export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const refusal = error instanceof ApiError ? error : null;
  return (
    <div className="failed" role="alert">
      <p>
        <strong>{texts.failed}</strong> {(error as Error).message}
      </p>
      {refusal?.requestId && <p className="hint">{texts.requestId(refusal.requestId)}</p>}
      {retry && (
        <button type="button" className="button" onClick={retry}>
          {texts.tryAgain}
        </button>
      )}
    </div>
  );
}

export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children}
  </div>
);

interface Props<T> {
  query: { data: T | undefined; isError: boolean; error: Error | null; refetch: () => unknown };
  /** Returns true if there is nothing to show. */
  isEmpty?: (data: T) => boolean;
  empty?: ReactNode;
  lines?: number;
  children: (data: T) => ReactNode;
}

/** Keeps showing the last data if a refresh fails, with the error above it. */
export function Loaded<T>({ query, isEmpty, empty, lines, children }: Props<T>) {
  if (query.data === undefined)
    return query.isError ? (
      <Failed error={query.error} retry={() => void query.refetch()} />
    ) : (
      <Loading lines={lines} />
    );
  return (
    <>
      {query.isError && <Failed error={query.error} retry={() => void query.refetch()} />}
      {isEmpty?.(query.data) ? empty : children(query.data)}
    </>
  );
}
