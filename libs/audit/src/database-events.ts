import pg from 'pg';

/** A state that an event of a reward link reports. */
export type LinkState = 'generated' | 'revealed' | 'cancelled';

/** The states of a link that its events report. */
export interface LinkHistory {
  link: string;
  account: string;
  states: ReadonlySet<LinkState>;
}

/** The row of a link, with the times of its state changes in epoch milliseconds. */
export interface LinkRow {
  link: string;
  account: string;
  times: Record<LinkState, number | undefined>;
}

const ROWS_PER_BATCH = 10_000;
export const STATES = ['generated', 'revealed', 'cancelled'] as const;

/** Iterates over the rows of a statement in batches, inside a transaction. */
async function* fetchInBatches<Row extends object>(client: pg.ClientBase, sql: string): AsyncGenerator<Row> {
  await client.query(`declare batches no scroll cursor for ${sql}`);
  for (;;) {
    const { rows } = await client.query<Row>(`fetch ${ROWS_PER_BATCH} from batches`);
    if (rows.length === 0) return;
    yield* rows;
  }
}

/** Iterates over all links by id. */
export async function* linkRows(client: pg.ClientBase): AsyncGenerator<LinkRow> {
  interface Row extends Record<LinkState, Date | null> {
    link: string;
    account: string;
  }
  const rows = fetchInBatches<Row>(
    client,
    `select id::text as link, account, created_at as generated, revealed_at as revealed, cancelled_at as cancelled
     from gift_cards.reward_links order by id`,
  );
  for await (const { link, account, ...times } of rows)
    yield {
      link,
      account,
      times: Object.fromEntries(STATES.map((state) => [state, times[state]?.getTime()])) as LinkRow['times'],
    };
}

/** Iterates over the stored events of links by link id. */
export async function* countedLinks(client: pg.ClientBase): AsyncGenerator<LinkHistory> {
  const rows = fetchInBatches<{ link: string; account: string; states: LinkState[] }>(
    client,
    // Link ids have one length and are in lower case, so this is also the order of the rows' primary key.
    `select split_part(id, ':', 1) as link, min(account_id) as account, array_agg(state) as states
     from analytics.tracking_events where type = 'reward_link' and state = any ('{${STATES.join(',')}}')
     group by 1 order by split_part(id, ':', 1) collate "C"`,
  );
  for await (const { link, account, states } of rows) yield { link, account, states: new Set(states) };
}

/** Returns why the connected role cannot read the events of all accounts, or undefined if it can. */
export async function reasonForNoEvents(client: pg.ClientBase): Promise<string | undefined> {
  // Looked up in pg_class, because naming a table in a schema without access is an error.
  const { rows } = await client.query<{ readable: boolean; one_account: boolean }>(
    `select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') as readable,
       row_security_active(c.oid) as one_account
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'analytics' and c.relname = 'tracking_events'`,
  );
  const [table] = rows;
  if (!table) return 'this database has no event tables';
  if (!table.readable) return 'this role may not read events';
  return table.one_account ? 'this role sees the events of one account at a time' : undefined;
}

/** Returns the start of the oldest stored month in epoch milliseconds, or Infinity if no month is stored. */
export async function keptFrom(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ name: string | null }>(
    `select min(relname) as name from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'analytics.tracking_events'::regclass and not inhdetachpending`,
  );
  const name = rows[0]!.name;
  return name ? Date.parse(`${name.slice(-7).replace('_', '-')}-01T00:00:00Z`) : Infinity;
}

/** The identity of an event. */
export interface EventKey {
  account: string;
  /** Epoch milliseconds. */
  at: number;
  id: string;
}
export const keyOf = ({ account, at, id }: EventKey): string => `${account} ${at} ${id}`;

/** Returns the keys (`keyOf`) of those events that are stored. */
export async function storedKeys(client: pg.ClientBase, events: EventKey[]): Promise<Set<string>> {
  const { rows } = await client.query<{ account: string; at: Date; id: string }>(
    `select e.account_id as account, e.occurred_at as at, e.id
     from unnest($1::text[], $2::timestamptz[], $3::text[]) as u (account_id, occurred_at, id)
     join analytics.tracking_events e
       on e.account_id = u.account_id and e.occurred_at = u.occurred_at and e.id = u.id`,
    [
      events.map(({ account }) => account),
      events.map(({ at }) => new Date(at).toISOString()),
      events.map(({ id }) => id),
    ],
  );
  return new Set(rows.map(({ account, at, id }) => keyOf({ account, at: at.getTime(), id })));
}

/** A conversion with an external id. External ids of JOURNEY keys, which are public, are a separate namespace. */
interface NamedConversion {
  account: string;
  externalId: string;
  isPublic: boolean;
}
export const conversionKey = ({ account, externalId, isPublic }: NamedConversion): string =>
  `${account} ${isPublic} ${externalId}`;

/** Returns the keys (`conversionKey`) of those conversions whose external id was counted. */
export async function countedConversions(
  client: pg.ClientBase,
  conversions: NamedConversion[],
): Promise<Set<string>> {
  const { rows } = await client.query<NamedConversion>(
    `select e.account_id as account, e.external_id as "externalId", e.traffic_class is not null as "isPublic"
     from unnest($1::text[], $2::text[]) as u (account_id, external_id)
     join analytics.tracking_events e on e.account_id = u.account_id and e.external_id = u.external_id
     where e.type = 'conversion'`,
    [conversions.map(({ account }) => account), conversions.map(({ externalId }) => externalId)],
  );
  return new Set(rows.map(conversionKey));
}

/**
 * Reads the outboxes that this role can read. Returns the number of events older than `graceS` by schema, and the ids of
 * link events of any age.
 */
export async function readOutboxes(
  client: pg.ClientBase,
  graceS: number,
): Promise<{ late: Map<string, number>; links: Set<string> }> {
  const { rows: schemas } = await client.query<{ schema: string }>(
    `select n.nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relname = 'tracking_outbox' and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
     order by 1`,
  );
  const late = new Map<string, number>();
  for (const { schema } of schemas) {
    const { rows } = await client.query<{ late: number }>(
      `select count(*)::int as late from ${pg.escapeIdentifier(schema)}.tracking_outbox
       where created_at < now() - $1 * interval '1 second'`,
      [graceS],
    );
    if (rows[0]!.late > 0) late.set(schema, rows[0]!.late);
  }
  const { rows: links } = await client.query<{ id: string }>(
    `select event::jsonb->>'id' as id from gift_cards.tracking_outbox`,
  );
  return { late, links: new Set(links.map(({ id }) => id)) };
}
