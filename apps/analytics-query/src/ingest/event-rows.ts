import { isDerivedJourneyId, UTM_NAMES, type ConversionEvent, type StoredEvent } from '@perkway/domain';

type Value = string | number | boolean | null | undefined;
type Tagged = Extract<StoredEvent, { utm?: unknown }>;
const get = <K extends string>(event: StoredEvent, name: K): Value =>
  (event as Partial<Record<K, Value>>)[name];
const traffic = (event: StoredEvent) => ('traffic' in event ? event.traffic : undefined);

const MINUTE_MS = 60_000;
let lastMinute = NaN;
let startOfMinute = '';
/**
 * Formats the time in ISO 8601. Caches the minute: events of a batch are close in time, and formatting a whole date
 * costs as much as validating an event.
 */
export function instantOf({ at }: { at: number }): string {
  const ms = at % MINUTE_MS;
  if (at - ms !== lastMinute) {
    lastMinute = at - ms;
    startOfMinute = new Date(lastMinute).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:'.length);
  }
  const digits = String(100_000 + ms);
  return `${startOfMinute}${digits.slice(1, 3)}.${digits.slice(3)}Z`;
}
const isEmpty = (value: object): boolean => {
  for (const _ in value) return false;
  return true;
};

/** The columns of `tracking_events`: name, type, and the value of an event in Postgres text form. */
const COLUMNS: [name: string, type: string, read: (event: StoredEvent) => Value][] = [
  ['account_id', 'text', ({ account }) => account],
  ['occurred_at', 'timestamptz', instantOf],
  ['id', 'text', ({ id }) => id],
  ['type', 'text', ({ type }) => type],
  ['perk_id', 'text', (event) => get(event, 'perk')],
  // The text of an array, because rows have arrays of different lengths, which Postgres cannot put into one array.
  // Quoted, because a perk id may be "null".
  [
    'perk_ids',
    'text[]',
    (event) =>
      event.type === 'perk_view'
        ? `{${[...new Set(event.perks)].map((perk) => `"${perk}"`).join(',')}}`
        : null,
  ],
  ['collection_id', 'text', (event) => get(event, 'collection')],
  ['campaign_id', 'text', (event) => get(event, 'campaign')],
  ['journey_id', 'text', (event) => get(event, 'journey')],
  [
    'has_derived_journey',
    'boolean',
    (event) => {
      const [journey, campaign] = [get(event, 'journey'), get(event, 'campaign')];
      return journey && campaign ? isDerivedJourneyId(String(journey), String(campaign)) : null;
    },
  ],
  ['channel', 'text', (event) => get(event, 'channel')],
  ['traffic_class', 'text', (event) => traffic(event)?.class],
  ['traffic_reason', 'text', (event) => traffic(event)?.reason],
  ...UTM_NAMES.map((name): (typeof COLUMNS)[number] => [
    name,
    'text',
    (event) => (event as Tagged).utm?.[name],
  ]),
  [
    'cmeta',
    'jsonb',
    (event) => {
      const { cmeta } = event as Tagged;
      return cmeta && !isEmpty(cmeta) ? JSON.stringify(cmeta) : null;
    },
  ],
  ['value', 'numeric', (event) => get(event, 'value')],
  ['currency', 'text', (event) => get(event, 'currency')],
  ['external_id', 'text', (event) => get(event, 'externalId')],
  ['state', 'text', (event) => get(event, 'state')],
  ['pool_id', 'text', (event) => get(event, 'pool')],
  ['denomination', 'numeric', (event) => get(event, 'denomination')],
  ['created_by', 'text', (event) => get(event, 'createdBy')],
  ['reference', 'text', (event) => get(event, 'reference')],
];

/**
 * A JSON escape such as `\n` or `\u0007`. Also matches after an escaped backslash, which costs time but does no harm.
 */
const CONTROL = /\\[^"\\]/;
const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/g;
const rawOf = (escape: string): string =>
  escape === '\\"' || escape === '\\\\' ? escape : (JSON.parse(`"${escape}"`) as string);

/**
 * Converts elements of JSON arrays to what Postgres reads in array literals and in CSV with backslash escapes. Nulls,
 * numbers and quoted strings are the same in all three, and JSON.stringify is the fastest writer. Only control
 * characters differ: JSON escapes them, the other two contain them as they are.
 */
const asPostgresReads = (json: string): string => (CONTROL.test(json) ? json.replace(ESCAPE, rawOf) : json);

/** Leaves out the columns that none of the events has. */
const columnsOf = (events: StoredEvent[]) =>
  COLUMNS.filter(([, , read]) => events.some((event) => (read(event) ?? null) !== null));

/** Types whose array elements are sent as text and cast row by row. */
const isText = (type: string): boolean => type === 'text' || type === 'text[]' || type === 'jsonb';

/** Builds one insert for a whole batch. Skips events that are already stored. */
export function insertOf(events: StoredEvent[]): { text: string; params: string[] } {
  const columns = columnsOf(events);
  const names = columns.map(([name]) => name).join(', ');
  const selected = columns.map(([name, type]) => (isText(type) ? `u.${name}::${type}` : `u.${name}`));
  const arrays = columns.map(([, type], index) => `$${index + 1}::${isText(type) ? 'text' : type}[]`);
  return {
    text: `
  insert into tracking_events (${names})
  select ${selected.join(', ')}
  from unnest(${arrays.join(', ')}) as u (${names})
  on conflict do nothing`,
    params: columns.map(
      ([, , read]) =>
        `{${asPostgresReads(JSON.stringify(events.map((event) => read(event) ?? null)).slice(1, -1))}}`,
    ),
  };
}

/** Builds a `copy` for a whole batch, at two thirds of the cost of an insert. Fails if an event is already stored. */
export function copyOf(events: StoredEvent[]): { text: string; rows: string } {
  const columns = columnsOf(events);
  const names = columns.map(([name]) => name).join(', ');
  let rows = '';
  for (const event of events)
    rows += `${JSON.stringify(columns.map(([, , read]) => read(event) ?? null)).slice(1, -1)}\n`;
  return {
    text: String.raw`copy tracking_events (${names}) from stdin (format csv, null 'null', escape '\')`,
    rows: asPostgresReads(rows),
  };
}

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** All writers insert in this order, so that they cannot deadlock. */
export const byKey = (a: StoredEvent, b: StoredEvent): number =>
  compareText(a.account, b.account) || a.at - b.at || compareText(a.id, b.id);

export const hasExternalId = (event: StoredEvent): event is ConversionEvent & { externalId: string } =>
  event.type === 'conversion' && event.externalId !== undefined;
