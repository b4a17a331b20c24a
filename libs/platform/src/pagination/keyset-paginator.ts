import { ApiError, invalidField, lastOf, type ErrorCode } from '@perkway/domain';
import { hkdfSync } from 'node:crypto';
import { CursorSealer, type Position } from './cursor.js';

export const MAX_LIMIT = 200;
export const DEFAULT_LIMIT = 50;

/** A list, for its decorator and its pages. */
export interface Listing {
  /** Unique within the app, so that a cursor works for one list only. */
  name: string;
  /** Error code for an invalid `limit` or `cursor`. Default: VALIDATION_FAILED. */
  limitError?: ErrorCode;
  cursorError?: ErrorCode;
}

/** The query of a list, as received. */
export type ListQuery = Readonly<Record<string, unknown>>;

export interface Page<Item> {
  data: Item[];
  /** Null on the last page. */
  next_cursor: string | null;
}

/** The range of rows to read for one page, and a function that builds the response from the rows. */
export interface PageRequest<After extends Position> {
  /** Position of the last row of the previous page; undefined for the first page. */
  after: After | undefined;
  /** Number of rows to read: one more than the page shows, to detect that another page follows. */
  rows: number;
  /**
   * @param positionOf returns a row's position: the values that the list is ordered by, in that order
   * @param last where the scan stopped although more rows may follow; the next page continues there if these rows do
   * not fill a page
   */
  respond<Row, Item>(
    rows: readonly Row[],
    positionOf: (row: Row) => After,
    toItem: (row: Row) => Item,
    last?: After,
  ): Page<Item>;
}

/**
 * Keyset pagination: a page continues after the last row of the previous one, so that no row appears twice or goes
 * missing when others are created or deleted meanwhile. AuthModule provides it.
 */
export class KeysetPaginator {
  private readonly cursors: CursorSealer;

  /** @param secret must be the same in all replicas */
  constructor(secret: string) {
    this.cursors = new CursorSealer(Buffer.from(hkdfSync('sha256', secret, '', 'perkway/cursors/v1', 32)));
  }

  /**
   * Reads `limit` and `cursor`.
   *
   * @param owner account of the list, if each account has its own; cursors work for their own account only
   * @throws ApiError VALIDATION_FAILED or the code of the listing
   */
  request<After extends Position>(
    { name, limitError, cursorError }: Listing,
    query: ListQuery,
    owner = '',
  ): PageRequest<After> {
    const scope = [name, owner];
    const limit = readLimit(lastOf(query['limit']));
    if (limit === undefined)
      throw limitError
        ? new ApiError(limitError)
        : invalidField('limit', `must be an integer from 1 to ${MAX_LIMIT}`);
    const cursor = lastOf(query['cursor']);
    const after = cursor === undefined ? undefined : this.cursors.open(scope, cursor);
    if (cursor !== undefined && !after)
      throw cursorError ? new ApiError(cursorError) : invalidField('cursor', 'was not issued by this list');
    return {
      after: after as After | undefined,
      rows: limit + 1,
      respond: (rows, positionOf, toItem, last) => {
        const shown = rows.slice(0, limit);
        const end = rows.length > limit ? positionOf(shown[shown.length - 1]!) : last;
        return { data: shown.map(toItem), next_cursor: end ? this.cursors.seal(scope, end) : null };
      },
    };
  }
}

function readLimit(given: unknown): number | undefined {
  if (given === undefined) return DEFAULT_LIMIT;
  const limit = typeof given === 'string' && /^\d{1,3}$/.test(given) ? Number(given) : 0;
  return limit >= 1 && limit <= MAX_LIMIT ? limit : undefined;
}
