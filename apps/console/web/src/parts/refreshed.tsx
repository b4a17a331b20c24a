import { formatExactMoment } from '../format';
import { texts } from '../texts';

interface Query {
  /** Epoch milliseconds; 0 before the first response. */
  dataUpdatedAt: number;
  isFetching: boolean;
  refetch: () => unknown;
}

/** Says when the oldest of a screen's data was read, and reads all of it again. */
export function Refreshed({ queries }: { queries: Query[] }) {
  const oldest = Math.min(...queries.map(({ dataUpdatedAt }) => dataUpdatedAt));
  const isFetching = queries.some((query) => query.isFetching);
  return (
    <>
      {oldest > 0 && (
        <span className="hint" data-refreshed={oldest}>
          {texts.refreshed(formatExactMoment(new Date(oldest).toISOString()))}
        </span>
      )}
      <button
        type="button"
        className="button"
        aria-disabled={isFetching}
        onClick={() => isFetching || queries.forEach(({ refetch }) => void refetch())}
      >
        {texts.refresh}
      </button>
    </>
  );
}
