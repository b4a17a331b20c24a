import { Conditions } from '../pagination/conditions.js';
import { idFilterOf, searchOf } from '../pagination/filters.js';
import type { ListQuery, Page, KeysetPaginator } from '../pagination/keyset-paginator.js';

/** The list of all resources of one kind in the management API. */
export interface ResourceList<Row, Item> {
  /** Unique within the app. */
  name: string;
  /** SQL that reads the rows, up to the conditions. */
  select: string;
  /** SQL that the rows are ordered by. Default: `id`. */
  id?: string;
  /** SQL of the columns that `q` searches. */
  search: string[];
  /** Column of the account, for kinds that belong to one; enables the `owner` filter. */
  owner?: string;
  /** Only these ids. */
  ids?: string[];
  /** Adds conditions of this kind. */
  filter?: (where: Conditions) => void;
  toItem: (row: Row) => Item;
}

/** Returns one page, ordered by id. @throws ApiError VALIDATION_FAILED */
export async function listResources<Row extends { id: string | number }, Item>(
  database: { query<T>(sql: string, parameters: unknown[]): Promise<T> },
  pages: KeysetPaginator,
  query: ListQuery,
  { name, select, id = 'id', search, owner, ids, filter, toItem }: ResourceList<Row, Item>,
): Promise<Page<Item>> {
  const page = pages.request<[id: string | number]>({ name }, query);
  const where = new Conditions().search(searchOf(query), ...search);
  const wanted = owner && idFilterOf(query, 'owner');
  if (wanted) where.equal(owner, wanted);
  if (ids) where.anyOf(id, ids);
  filter?.(where);
  if (page.after) where.after(id, page.after[0]);
  const rows = await database.query<Row[]>(
    `${select} where ${where} order by ${id} limit ${where.bind(page.rows)}`,
    where.parameters,
  );
  return page.respond(rows, (row) => [row.id], toItem);
}
