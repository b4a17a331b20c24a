import { Conditions } from '../pages/conditions.js';
import { ownerOf, searchOf } from '../pages/filters.js';
import type { ListQuery, Page, Pages } from '../pages/pages.js';

/** The list of all that the operator has stored of one kind. */
export interface StoredList<Row, Item> {
  /** No other list of the app has it. */
  name: string;
  /** Reads the rows, up to the conditions. */
  select: string;
  /** What its rows are ordered by, as SQL. Default: `id`. */
  id?: string;
  /** Columns that `q` is looked for in, as SQL. */
  search: string[];
  /** Column of the account, for kinds that belong to one: the list can be filtered by it. */
  owner?: string;
  toItem: (row: Row) => Item;
}

/** One page, by id. @throws DomainError VALIDATION_FAILED */
export async function listStored<Row extends { id: string | number }, Item>(
  database: { query<T>(sql: string, parameters: unknown[]): Promise<T> },
  pages: Pages,
  query: ListQuery,
  { name, select, id = 'id', search, owner, toItem }: StoredList<Row, Item>,
): Promise<Page<Item>> {
  const page = pages.ask<[id: string | number]>({ name }, query);
  const where = new Conditions().search(searchOf(query), ...search);
  const wanted = owner && ownerOf(query);
  if (wanted) where.equal(owner, wanted);
  if (page.after) where.after(id, page.after[0]);
  const rows = await database.query<Row[]>(
    `${select} where ${where} order by ${id} limit ${where.bind(page.rows)}`,
    where.parameters,
  );
  return page.answer(rows, (row) => [row.id], toItem);
}
