import { useEffect, useRef, useState, type Key, type ReactNode } from 'react';
import { texts } from '../texts';
import { useSearchFilters } from './search-filters';

export interface Column<T> {
  name: string;
  /** Right-aligns numbers, so that they can be compared. */
  isNumber?: boolean;
  isHead?: boolean;
  cell: (row: T) => ReactNode;
  /** Makes the column sortable: numbers begin with the largest, texts with the first. */
  sortBy?: (row: T) => number | string | null;
}

interface Props<T> {
  caption: string;
  columns: Column<T>[];
  rows: readonly T[];
  /** A last row that keeps its place. */
  total?: T;
  keyOf: (row: T, index: number) => Key;
  /** A long table scrolls within its own region. */
  isTall?: boolean;
  /** The URL parameter that keeps the order, if columns are sortable. */
  sortParameter?: string;
  /** Only so many rows are shown, the first in the order. */
  atMost?: number;
}

/** Names of up to this many characters do not wrap. */
const SHORT_NAME = 20;

/** Keeps a short name of a row on one line, so that other columns wrap first. */
export const RowName = ({ name, children }: { name: string; children: ReactNode }) => (
  <span className={name.length <= SHORT_NAME ? 'nowrap' : 'long-name'}>{children}</span>
);

/** Keeps the order in the URL as `name` or `-name`, where `-` is descending. */
function useSorted<T>(columns: Column<T>[], rows: readonly T[], parameter = '') {
  const { valueOf, set } = useSearchFilters();
  const asked = parameter && valueOf(parameter);
  const isDescending = asked.startsWith('-');
  const column = columns.find(({ name, sortBy }) => sortBy && name === asked.replace(/^-/, ''));
  const sign = isDescending ? -1 : 1;
  const compare = (one: number | string | null, other: number | string | null) => {
    // Rows without a value are last in both directions.
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return sign * (typeof one === 'string' ? one.localeCompare(String(other)) : one - Number(other));
  };
  return {
    rows: column ? rows.toSorted((one, other) => compare(column.sortBy!(one), column.sortBy!(other))) : rows,
    orderOf: ({ name }: Column<T>) =>
      column?.name === name ? (isDescending ? ('descending' as const) : ('ascending' as const)) : undefined,
    sort: ({ name, isNumber }: Column<T>) => {
      const isAgain = column?.name === name;
      const descending = isAgain ? !isDescending : isNumber === true;
      set(parameter, descending ? `-${name}` : name);
    },
  };
}

/** Returns whether the content of the element is wider than the element. */
function useIsCut() {
  const ref = useRef<HTMLDivElement>(null);
  const [isCut, setCut] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setCut(element.scrollWidth > element.clientWidth + 1));
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, []);
  return { ref, isCut };
}

/**
 * A wide table scrolls within its own region, which is reachable by keyboard, and says so; the names of its rows stay
 * in view. On a phone, each row becomes a block with column names beside the values, unless `isTall`. The roles are
 * explicit because that layout drops them.
 */
export function Table<T>({ caption, columns, rows, total, keyOf, isTall, sortParameter, atMost }: Props<T>) {
  const sorted = useSorted(columns, rows, sortParameter);
  const shown = sorted.rows.slice(0, atMost);
  const { ref, isCut } = useIsCut();
  const kinds = { tall: isTall, sortable: sortParameter, cut: isCut };
  return (
    <div
      ref={ref}
      className={Object.entries(kinds).reduce(
        (all, [name, is]) => (is ? `${all} ${name}` : all),
        'table-region',
      )}
      role="region"
      aria-label={caption}
      tabIndex={0}
    >
      {isCut && <p className="hint table-hint">{texts.scrollTable}</p>}
      <table role="table">
        <caption className="sr">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th
                key={column.name}
                role="columnheader"
                scope="col"
                className={column.isNumber ? 'number' : undefined}
                aria-sort={sorted.orderOf(column)}
              >
                {column.sortBy ? (
                  <button type="button" className="sort" onClick={() => sorted.sort(column)}>
                    {column.name}
                  </button>
                ) : (
                  column.name
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {(total === undefined ? shown : [...shown, total]).map((row, index) => (
            <tr key={keyOf(row, index)} role="row" className={row === total ? 'total' : undefined}>
              {columns.map(({ name, isNumber, isHead, cell }) =>
                isHead ? (
                  <th key={name} role="rowheader" scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={name} role="cell" data-column={name} className={isNumber ? 'number' : undefined}>
                    <div>{cell(row)}</div>
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
