import {
  isDerivedJourneyId,
  UTM_NAMES,
  type CampaignNamedEvent,
  type ConversionEvent,
  type PerkNamedEvent,
  type TrackingEvent,
} from '@perkway/domain';

export type StoredEvent = Exclude<TrackingEvent, PerkNamedEvent | CampaignNamedEvent>;

type Value = string | number | boolean | null | undefined;
type Tagged = Extract<StoredEvent, { utm?: unknown }>;
const has = <K extends string>(event: StoredEvent, name: K): Value =>
  (event as Partial<Record<K, Value>>)[name];
const traffic = (event: StoredEvent) => ('traffic' in event ? event.traffic : undefined);

export const instantOf = ({ at }: { at: number }): string => new Date(at).toISOString();
const isEmpty = (value: object): boolean => {
  for (const _ in value) return false;
  return true;
};

/**
 * The columns of `tracking_events`, the type of the elements that they travel as, what an event has for them, and what is
 * made of an element where it is not taken as it is.
 */
const COLUMNS: [
  name: string,
  type: 'text' | 'boolean' | 'numeric' | 'float8',
  read: (event: StoredEvent) => Value,
  made?: string,
][] = [
  ['account_id', 'text', ({ account }) => account],
  // Exact: whole milliseconds, and a date as text costs both sides more.
  ['occurred_at', 'float8', ({ at }) => at, 'to_timestamp(u.occurred_at / 1000)'],
  ['id', 'text', ({ id }) => id],
  ['type', 'text', ({ type }) => type],
  ['perk_id', 'text', (event) => has(event, 'perk')],
  // As the text of an array: Postgres arrays of arrays must all have one length. Quoted, for a perk may be called null.
  [
    'perk_ids',
    'text',
    (event) =>
      event.type === 'perk_view'
        ? `{${[...new Set(event.perks)].map((perk) => `"${perk}"`).join(',')}}`
        : null,
    'u.perk_ids::text[]',
  ],
  ['collection_id', 'text', (event) => has(event, 'collection')],
  ['campaign_id', 'text', (event) => has(event, 'campaign')],
  ['journey_id', 'text', (event) => has(event, 'journey')],
  [
    'has_derived_journey',
    'boolean',
    (event) => {
      const [journey, campaign] = [has(event, 'journey'), has(event, 'campaign')];
      return journey && campaign ? isDerivedJourneyId(String(journey), String(campaign)) : null;
    },
  ],
  ['channel', 'text', (event) => has(event, 'channel')],
  ['traffic_class', 'text', (event) => traffic(event)?.class],
  ['traffic_reason', 'text', (event) => traffic(event)?.reason],
  ...UTM_NAMES.map((name): (typeof COLUMNS)[number] => [
    name,
    'text',
    (event) => (event as Tagged).utm?.[name],
  ]),
  [
    'cmeta',
    'text',
    (event) => {
      const { cmeta } = event as Tagged;
      return cmeta && !isEmpty(cmeta) ? JSON.stringify(cmeta) : null;
    },
    'u.cmeta::jsonb',
  ],
  ['value', 'numeric', (event) => has(event, 'value')],
  ['currency', 'text', (event) => has(event, 'currency')],
  ['external_id', 'text', (event) => has(event, 'externalId')],
  ['state', 'text', (event) => has(event, 'state')],
  ['pool_id', 'text', (event) => has(event, 'pool')],
  ['denomination', 'numeric', (event) => has(event, 'denomination')],
  ['created_by', 'text', (event) => has(event, 'createdBy')],
  ['reference', 'text', (event) => has(event, 'reference')],
];

/** What JSON writes for a character: `\"`, `\\`, and for those that Postgres takes as they are `\n`, `\u0007`. */
const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/g;
const unescape = (escape: string): string =>
  escape === '\\"' || escape === '\\\\' ? escape : (JSON.parse(`"${escape}"`) as string);

/**
 * One array parameter as the text that Postgres reads; null where no event has anything. JSON writes it, several times
 * faster than anything here could: nulls, numbers and quoted strings are the same in both, but for control characters.
 */
function arrayOf(
  events: StoredEvent[],
  read: (event: StoredEvent) => Value,
  isAnyText: boolean,
): string | null {
  const values = events.map(read);
  if (values.every((value) => value === null || value === undefined)) return null;
  const elements = JSON.stringify(values).slice(1, -1);
  return `{${isAnyText && elements.includes('\\') ? elements.replace(ESCAPE, unescape) : elements}}`;
}

/**
 * One statement for a whole batch, without the columns that none of its events has. A second arrival of an event finds
 * its key taken and is no error.
 */
export function insertOf(events: StoredEvent[]): { text: string; params: string[] } {
  const names: string[] = [];
  const selected: string[] = [];
  const arrays: string[] = [];
  const params: string[] = [];
  for (const [name, type, read, made] of COLUMNS) {
    // What something is made of has no control characters.
    const array = arrayOf(events, read, made === undefined);
    if (array === null) continue;
    params.push(array);
    names.push(name);
    selected.push(made ?? `u.${name}`);
    arrays.push(`$${params.length}::${type}[]`);
  }
  return {
    text: `
  insert into tracking_events (${names.join(', ')})
  select ${selected.join(', ')}
  from unnest(${arrays.join(', ')}) as u (${names.join(', ')})
  on conflict do nothing`,
    params,
  };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** All writers take their keys in one order, so that two of them never wait for each other in a circle. */
export const byKey = (a: StoredEvent, b: StoredEvent): number =>
  compareText(a.account, b.account) || a.at - b.at || compareText(a.id, b.id);

export const isStored = (event: TrackingEvent): event is StoredEvent =>
  event.type !== 'perk_named' && event.type !== 'campaign_named';
export const hasExternalId = (event: StoredEvent): event is ConversionEvent & { externalId: string } =>
  event.type === 'conversion' && event.externalId !== undefined;
