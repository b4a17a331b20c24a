import { DomainError, invalidField, lastOf, type ErrorCode } from '@perkway/domain';
import { hkdfSync } from 'node:crypto';
import { CursorSealer, type Position } from './cursor.js';

export const MAX_LIMIT = 200;
export const DEFAULT_LIMIT = 50;

/** One kind of list, for its decorator and its pages. */
export interface Listing {
  /** No other list of the app has it: a cursor of the one is none of the other. */
  name: string;
  /** What a wrong `limit` or `cursor` is refused with. Default: VALIDATION_FAILED. */
  limitError?: ErrorCode;
  cursorError?: ErrorCode;
}

/** The query of a list as it came. */
export type ListQuery = Readonly<Record<string, unknown>>;

export interface Page<Item> {
  data: Item[];
  /** Null on the last page. */
  next_cursor: string | null;
}

/** What one page needs of the database, and how its rows become the answer. */
export interface PageRequest<After extends Position> {
  /** The position of the last row of the page before; undefined for the first page. */
  after: After | undefined;
  /** Rows to read: one more than the page has, which says that there is another page. */
  rows: number;
  /**
   * @param positionOf the row: what the list is ordered by, in that order
   * @param last where the reading stopped although there may be more: these rows are not enough, and yet lead on
   */
  answer<Row, Item>(
    rows: readonly Row[],
    positionOf: (row: Row) => After,
    toItem: (row: Row) => Item,
    last?: After,
  ): Page<Item>;
}

/**
 * Lists by keyset: a page goes on after the last row of the one before, so that rows which come and go meanwhile make
 * none appear twice and none go missing. AuthModule provides it.
 */
export class Pages {
  private readonly cursors: CursorSealer;

  /** @param secret the same in all replicas */
  constructor(secret: string) {
    this.cursors = new CursorSealer(Buffer.from(hkdfSync('sha256', secret, '', 'perkway/cursors/v1', 32)));
  }

  /**
   * Reads `limit` and `cursor`.
   *
   * @param owner whose list it is, where accounts have one each: their cursors are none of each other
   * @throws DomainError VALIDATION_FAILED or what the listing says
   */
  ask<After extends Position>(
    { name, limitError, cursorError }: Listing,
    query: ListQuery,
    owner = '',
  ): PageRequest<After> {
    const scope = [name, owner];
    const limit = readLimit(lastOf(query['limit']));
    if (limit === undefined)
      throw limitError ? new DomainError(limitError) : invalidField('limit', `must be 1 to ${MAX_LIMIT}`);
    const cursor = lastOf(query['cursor']);
    const after = cursor === undefined ? undefined : this.cursors.open(scope, cursor);
    if (cursor !== undefined && !after)
      throw cursorError
        ? new DomainError(cursorError)
        : invalidField('cursor', 'must be the next_cursor of an answer of this list');
    return {
      after: after as After | undefined,
      rows: limit + 1,
      answer: (rows, positionOf, toItem, last) => {
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
