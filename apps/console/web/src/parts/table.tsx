import type { Key, ReactNode } from 'react';

export interface Column<T> {
  name: string;
  /** Numbers stand at the right, so that they can be compared. */
  isNumber?: boolean;
  isHead?: boolean;
  cell: (row: T) => ReactNode;
}

interface Props<T> {
  caption: string;
  columns: Column<T>[];
  rows: readonly T[];
  keyOf: (row: T, index: number) => Key;
  /** A long one scrolls on its own. */
  isTall?: boolean;
}

/** Wide ones scroll inside of their own region, which the keyboard reaches too. */
export const Table = <T,>({ caption, columns, rows, keyOf, isTall }: Props<T>) => (
  <div
    className={isTall ? 'table-region tall' : 'table-region'}
    role="region"
    aria-label={caption}
    tabIndex={0}
  >
    <table>
      <caption className="sr">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ name, isNumber }) => (
            <th key={name} scope="col" className={isNumber ? 'number' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={keyOf(row, index)}>
            {columns.map(({ name, isNumber, isHead, cell }) =>
              isHead ? (
                <th key={name} scope="row">
                  {cell(row)}
                </th>
              ) : (
                <td key={name} className={isNumber ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
