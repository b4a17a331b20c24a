/**
 * The analytics model: one declarative table of cubes and members. `e` is the event row. Every piece of SQL in here is
 * a constant of ours; nothing that a caller sends ever becomes part of it.
 */

/** Names by id. They are joined to groups of ids rather than to rows where that says the same. */
export type NameTable = 'perk_names' | 'campaign_names';
/** What a member needs beside the event row; `perks` spreads an event over a row for each perk that it showed. */
export type Join = 'perks' | NameTable;

export const NAMES: Record<NameTable, { key: string; join: (key: string, account: string) => string }> = {
  perk_names: { key: 'perk_id', join: (key) => `perk_names pn on pn.perk_id = ${key}` },
  campaign_names: {
    key: 'campaign_id',
    join: (key, account) => `campaign_names cn on cn.account_id = ${account} and cn.campaign_id = ${key}`,
  },
};

export interface Dimension {
  type: 'string' | 'number' | 'time';
  sql: string;
  joins?: Join[];
}

export interface Measure {
  aggType: 'count' | 'countDistinct' | 'sum';
  sql: string;
  /** One event of a view cube shows several perks; where no join has spread them over rows, this adds them up. */
  sqlWithoutPerks?: string;
  /** What `countDistinct` counts the different values of. */
  distinct?: string;
  /** The value on a single row, for ungrouped queries. */
  ungrouped: string;
  /** The measure's own condition, for the filter `measureFilter`. */
  filter?: string;
}

export interface Cube {
  name: string;
  eventType: string;
  /** True if its events carry custom attributes, so that `cmeta_<name>` dimensions belong to it. */
  tagged: boolean;
  measures: Record<string, Measure>;
  dimensions: Record<string, Dimension>;
}

const text = (sql: string, ...joins: Join[]): Dimension => ({
  type: 'string',
  sql,
  ...(joins.length > 0 ? { joins } : {}),
});

const PEOPLE = "(e.traffic_class is null or e.traffic_class = 'human')";

const count: Measure = { aggType: 'count', sql: 'count(*)', ungrouped: '1' };
/** Everything that nothing marks as a bot, a prefetch or a mail proxy; what is not classified comes from servers for people. */
const countPeople: Measure = {
  aggType: 'count',
  sql: `count(*) filter (where ${PEOPLE})`,
  ungrouped: `case when ${PEOPLE} then 1 end`,
  filter: PEOPLE,
};
const journeys: Measure = {
  aggType: 'countDistinct',
  sql: 'count(distinct e.journey_id)',
  distinct: 'e.journey_id',
  ungrouped: '1',
};

const occurred = { occurred_at: { type: 'time', sql: 'e.occurred_at' } } satisfies Record<string, Dimension>;
const perk = {
  perk_id: text('e.perk_id'),
  perk_title: text('pn.title', 'perk_names'),
  partner_id: text('pn.partner_id', 'perk_names'),
};
const collection = { collection_id: text('e.collection_id') };
const campaign = {
  campaign_id: text('e.campaign_id'),
  campaign_name: text('cn.name', 'campaign_names'),
};
const journey = { journey_id: text('e.journey_id') };
const channel = { channel: text('e.channel') };
const traffic = { traffic_class: text('e.traffic_class'), traffic_reason: text('e.traffic_reason') };
const tags = {
  utm_source: text('e.utm_source'),
  utm_medium: text('e.utm_medium'),
  utm_campaign: text('e.utm_campaign'),
  utm_term: text('e.utm_term'),
  utm_content: text('e.utm_content'),
  cmeta: text('e.cmeta::text'),
};

export const CUBES: readonly Cube[] = [
  {
    name: 'perk_views',
    eventType: 'perk_view',
    tagged: true,
    measures: {
      count: { ...count, sqlWithoutPerks: 'coalesce(sum(e.perk_count), 0)::bigint' },
    },
    dimensions: {
      ...occurred,
      perk_id: text('p.perk_id', 'perks'),
      perk_title: text('pn.title', 'perks', 'perk_names'),
      partner_id: text('pn.partner_id', 'perks', 'perk_names'),
      ...collection,
      ...tags,
    },
  },
  {
    name: 'perk_clicks',
    eventType: 'perk_click',
    tagged: true,
    measures: { count, count_people: countPeople, journeys },
    dimensions: { ...occurred, ...perk, ...collection, ...journey, ...traffic, ...tags },
  },
  {
    name: 'teaser_views',
    eventType: 'teaser_view',
    tagged: true,
    measures: { count, count_people: countPeople, journeys },
    dimensions: { ...occurred, ...perk, ...campaign, ...journey, ...channel, ...traffic, ...tags },
  },
  {
    name: 'reward_views',
    eventType: 'reward_view',
    tagged: true,
    measures: { count, count_people: countPeople, journeys },
    dimensions: { ...occurred, ...perk, ...campaign, ...journey, ...channel, ...traffic, ...tags },
  },
  {
    name: 'incentive_clicks',
    eventType: 'incentive_click',
    tagged: true,
    measures: { count, count_people: countPeople, journeys },
    dimensions: { ...occurred, ...perk, ...campaign, ...journey, ...channel, ...traffic, ...tags },
  },
  {
    name: 'conversions',
    eventType: 'conversion',
    tagged: true,
    measures: {
      count,
      count_people: countPeople,
      journeys,
      value: { aggType: 'sum', sql: 'sum(e.value)', ungrouped: 'e.value' },
    },
    dimensions: {
      ...occurred,
      ...perk,
      ...campaign,
      ...journey,
      ...traffic,
      currency: text('e.currency'),
      external_id: text('e.external_id'),
      ...tags,
    },
  },
  {
    name: 'reward_links',
    eventType: 'reward_link',
    tagged: false,
    measures: { count },
    dimensions: {
      ...occurred,
      state: text('e.state'),
      pool_id: text('e.pool_id'),
      denomination: { type: 'number', sql: 'e.denomination' },
      currency: text('e.currency'),
      created_by: text('e.created_by'),
    },
  },
];
