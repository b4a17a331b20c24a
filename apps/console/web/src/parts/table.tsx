import type { Key, ReactNode } from 'react';

export interface Column<T> {
  name: string;
  /** Right-aligns numbers, so that they can be compared. */
  isNumber?: boolean;
  isHead?: boolean;
  cell: (row: T) => ReactNode;
}

interface Props<T> {
  caption: string;
  columns: Column<T>[];
  rows: readonly T[];
  keyOf: (row: T, index: number) => Key;
  /** A long table scrolls within its own region. */
  isTall?: boolean;
}

/**
 * A wide table scrolls within its own region, which is reachable by keyboard. On a phone, each row becomes a block with
 * column names beside the values, unless the table is `tall`; roles are explicit because that layout drops them.
 */
export const Table = <T,>({ caption, columns, rows, keyOf, isTall }: Props<T>) => (
  <div
    className={isTall ? 'table-region tall' : 'table-region'}
    role="region"
    aria-label={caption}
    tabIndex={0}
  >
    <table role="table">
      <caption className="sr">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ name, isNumber }) => (
            <th key={name} role="columnheader" scope="col" className={isNumber ? 'number' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, index) => (
          <tr key={keyOf(row, index)} role="row">
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
