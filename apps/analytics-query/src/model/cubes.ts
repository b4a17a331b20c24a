import { DERIVED_JOURNEY_DIGITS, DERIVED_JOURNEY_PREFIX, DERIVED_JOURNEY_SALT } from '@perkway/domain';

/**
 * The analytics model: one declarative table of cubes and members. `e` is the event row. All SQL in here is constant;
 * no caller input ever becomes part of it.
 */

/** Tables of names by id. Where the result is the same, they are joined to rows grouped by id, not to each row. */
export type NameTable = 'perk_names' | 'campaign_names';
/** A join that a member needs besides the event row; `perks` turns an event into one row per perk that it showed. */
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
  description?: string;
  joins?: Join[];
}

export interface Measure {
  aggType: 'count' | 'countDistinct' | 'sum' | 'number';
  /** The aggregate over rows; empty for a rate. */
  sql: string;
  /** An event of `perk_views` may show several perks; this adds them up if no join has turned them into rows. */
  sqlWithoutPerks?: string;
  /** The expression whose distinct values `countDistinct` counts. */
  distinct?: string;
  /** The value for a single row, in ungrouped queries. */
  ungrouped: string;
  /** The measure's own condition; `sql` includes it. */
  filter?: string;
  /** The bit of the cube's `step` that is equivalent to `filter`. */
  bit?: number;
  /** Counts only values whose rows all have `bit`. A single row cannot tell whether its value counts. */
  hasOnlyBit?: boolean;
  /** A rate: two measures of its cube. Null if the denominator is 0. */
  rate?: readonly [numerator: string, denominator: string];
  description?: string;
}

/** A named condition on rows. */
export interface Segment {
  sql: string;
  description: string;
}

export interface Cube {
  name: string;
  description: string;
  eventTypes: readonly [string, ...string[]];
  /** Extra condition, besides the type, for events of the cube. */
  rows?: string;
  /** Bits for the measure conditions that a row meets: evaluated once per row instead of once per measure. */
  step?: string;
  measures: Record<string, Measure>;
  dimensions: Record<string, Dimension>;
  segments?: Record<string, Segment>;
  /** Dimensions that a client shows when a user drills into a number. */
  drillMembers: readonly string[];
}

const text = (sql: string, description?: string, ...joins: Join[]): Dimension => ({
  type: 'string',
  sql,
  ...(description ? { description } : {}),
  ...(joins.length > 0 ? { joins } : {}),
});

const PEOPLE = "(e.traffic_class is null or e.traffic_class = 'human')";

const count: Measure = {
  aggType: 'count',
  sql: 'count(*)',
  ungrouped: '1',
  description: 'Total, including bots, prefetches and mail proxies',
};
const countWhere = (condition: string, description: string): Measure => ({
  aggType: 'count',
  sql: `count(*) filter (where ${condition})`,
  ungrouped: `case when ${condition} then 1 end`,
  filter: condition,
  description,
});
/** Counts events except those of bots, prefetches and mail proxies. Unclassified ones come from servers, for people. */
const countPeople = countWhere(PEOPLE, 'Without bots, prefetches and mail proxies');
const people: Record<string, Segment> = {
  people: { sql: PEOPLE, description: 'Without bots, prefetches and mail proxies' },
};

const journeys: Measure = {
  aggType: 'countDistinct',
  sql: 'count(distinct e.journey_id)',
  distinct: 'e.journey_id',
  ungrouped: '1',
  description: 'Distinct journeys; all events of a campaign without a journey of their own count as one',
};
const rate = (numerator: string, denominator: string): Measure => ({
  aggType: 'number',
  sql: '',
  ungrouped: 'null::numeric',
  rate: [numerator, denominator],
  description: `${numerator} / ${denominator}`,
});

const occurred = {
  occurred_at: { type: 'time', sql: 'e.occurred_at', description: 'When it happened' },
} satisfies Record<string, Dimension>;
const perk = {
  perk_id: text('e.perk_id'),
  perk_title: text('pn.title', 'Current title', 'perk_names'),
  partner_id: text('pn.partner_id', 'Current partner', 'perk_names'),
};
const collection = { collection_id: text('e.collection_id') };
const campaign = {
  campaign_id: text('e.campaign_id'),
  campaign_name: text('cn.name', 'Current name', 'campaign_names'),
};
const journey = { journey_id: text('e.journey_id') };
const channel = {
  channel: text('e.channel', '`outreach` (pixel, outreach click) or `journey`'),
};
const traffic = {
  traffic_class: text(
    'e.traffic_class',
    '`human`, `bot`, `prefetch` or `mail_proxy`; null for events reported by servers',
  ),
  traffic_reason: text('e.traffic_reason', 'The rule that determined the class'),
};
const utm = {
  utm_source: text('e.utm_source'),
  utm_medium: text('e.utm_medium'),
  utm_campaign: text('e.utm_campaign'),
  utm_term: text('e.utm_term'),
  utm_content: text('e.utm_content'),
};
const tags = { ...utm, cmeta: text('e.cmeta::text', 'All cmeta_* attributes as one JSON string') };

/**
 * Whether the event came without a journey of its own and so got the one of its campaign. Ingest records it; for older
 * rows it is computed here.
 */
export const HAS_DERIVED_JOURNEY = `coalesce(e.has_derived_journey, e.journey_id like '${DERIVED_JOURNEY_PREFIX}%' and e.journey_id =
  '${DERIVED_JOURNEY_PREFIX}' || left(encode(sha256(convert_to('${DERIVED_JOURNEY_SALT}' || e.campaign_id, 'UTF8')), 'hex'), ${DERIVED_JOURNEY_DIGITS}), false)`;
/** The event's own journey; null, which is not counted, if it has none. */
const OWN_JOURNEY = `case when not ${HAS_DERIVED_JOURNEY} then e.journey_id end`;
/** Steps of a journey; an event is exactly one of them. Most frequent first. */
const STEPS = {
  teaser_view: "e.type = 'teaser_view'",
  reward_view: "e.type = 'reward_view'",
  incentive_click: "e.type = 'incentive_click'",
  conversion: "e.type = 'conversion'",
  generated: "e.state = 'generated'",
  revealed: "e.state = 'revealed'",
};
type Step = keyof typeof STEPS;
const bitOf = (step: string): number => 2 ** Object.keys(STEPS).indexOf(step);
const STEP = `case ${Object.entries(STEPS)
  .map(([step, condition]) => `when ${condition} then ${bitOf(step)}`)
  .join(' ')} end`;
const ownJourneys = (description: string): Measure => ({
  aggType: 'countDistinct',
  sql: `count(distinct ${OWN_JOURNEY})`,
  distinct: OWN_JOURNEY,
  ungrouped: `case when not ${HAS_DERIVED_JOURNEY} then 1 end`,
  description,
});
const ownJourneysThat = (step: Step, description: string): Measure => ({
  ...ownJourneys(description),
  sql: `count(distinct ${OWN_JOURNEY}) filter (where ${STEPS[step]})`,
  ungrouped: `case when ${STEPS[step]} and not ${HAS_DERIVED_JOURNEY} then 1 end`,
  filter: STEPS[step],
  bit: bitOf(step),
});
const ownJourneysThatOnly = (step: Step, description: string): Measure => ({
  ...ownJourneysThat(step, description),
  // Each row is exactly one step, so these are all journeys except those with a row of another step.
  sql: `count(distinct ${OWN_JOURNEY}) - count(distinct ${OWN_JOURNEY}) filter (where (${STEPS[step]}) is not true)`,
  ungrouped: 'null::bigint',
  hasOnlyBit: true,
});

const CAMPAIGN_DRILL = ['occurred_at', 'campaign_name', 'perk_title', 'journey_id', 'utm_source'] as const;

export const CUBES: readonly Cube[] = [
  {
    name: 'perk_views',
    description: 'Perks shown: one view for each perk of each read',
    eventTypes: ['perk_view'],
    measures: {
      count: { ...count, sqlWithoutPerks: 'coalesce(sum(e.perk_count), 0)::bigint' },
      count_people: {
        ...countPeople,
        sqlWithoutPerks: `coalesce(sum(e.perk_count) filter (where ${PEOPLE}), 0)::bigint`,
      },
    },
    dimensions: {
      ...occurred,
      perk_id: text('p.perk_id', undefined, 'perks'),
      perk_title: text('pn.title', 'Current title', 'perks', 'perk_names'),
      partner_id: text('pn.partner_id', 'Current partner', 'perks', 'perk_names'),
      ...collection,
      ...traffic,
      ...tags,
    },
    segments: people,
    drillMembers: ['occurred_at', 'perk_title', 'collection_id', 'utm_source'],
  },
  {
    name: 'perk_clicks',
    description: 'Clicks on the `click_url` of a perk',
    eventTypes: ['perk_click'],
    measures: { count, count_people: countPeople, journeys },
    dimensions: { ...occurred, ...perk, ...collection, ...journey, ...traffic, ...tags },
    segments: people,
    drillMembers: ['occurred_at', 'perk_title', 'collection_id', 'journey_id', 'utm_source'],
  },
  {
    name: 'teaser_views',
    description: 'Views of a teaser',
    eventTypes: ['teaser_view'],
    measures: { count, count_people: countPeople, journeys },
    dimensions: { ...occurred, ...perk, ...campaign, ...journey, ...channel, ...traffic, ...tags },
    segments: people,
    drillMembers: CAMPAIGN_DRILL,
  },
  {
    name: 'reward_views',
    description: 'Views of a reward',
    eventTypes: ['reward_view'],
    measures: { count, count_people: countPeople, journeys },
    dimensions: { ...occurred, ...perk, ...campaign, ...journey, ...channel, ...traffic, ...tags },
    segments: people,
    drillMembers: CAMPAIGN_DRILL,
  },
  {
    name: 'incentive_clicks',
    description: 'Clicks on a reward URL or on a perk of a campaign',
    eventTypes: ['incentive_click'],
    measures: { count, count_people: countPeople, journeys },
    dimensions: { ...occurred, ...perk, ...campaign, ...journey, ...channel, ...traffic, ...tags },
    segments: people,
    drillMembers: CAMPAIGN_DRILL,
  },
  {
    name: 'conversions',
    description: 'Conversions that the client reported',
    eventTypes: ['conversion'],
    measures: {
      count,
      count_people: countPeople,
      journeys,
      value: {
        aggType: 'sum',
        sql: 'sum(e.value)',
        ungrouped: 'e.value',
        description: 'Sum over all currencies',
      },
    },
    dimensions: {
      ...occurred,
      ...perk,
      ...campaign,
      ...journey,
      ...traffic,
      currency: text('e.currency'),
      external_id: text(
        'e.external_id',
        'The id from the client; conversions with the same id count once per account, separately for JOURNEY keys',
      ),
      ...tags,
    },
    segments: people,
    drillMembers: ['occurred_at', 'campaign_name', 'perk_title', 'journey_id', 'currency', 'external_id'],
  },
  {
    name: 'reward_links',
    description: 'Reward links: one row for each state that a link reached',
    eventTypes: ['reward_link'],
    measures: { count: { ...count, description: 'Total of states that links reached' }, journeys },
    dimensions: {
      ...occurred,
      ...campaign,
      ...journey,
      state: text('e.state'),
      pool_id: text('e.pool_id'),
      denomination: { type: 'number', sql: 'e.denomination' },
      currency: text('e.currency'),
      created_by: text('e.created_by'),
      reference: text('e.reference'),
      ...tags,
    },
    drillMembers: ['occurred_at', 'state', 'pool_id', 'denomination', 'currency', 'created_by', 'reference'],
  },
  {
    name: 'campaign_funnel',
    description:
      'Distinct journeys that took each step, in any order, without bots, prefetches and mail proxies',
    eventTypes: ['teaser_view', 'reward_view', 'incentive_click', 'conversion', 'reward_link'],
    rows: `${PEOPLE} and e.journey_id is not null and (e.state is null or e.state in ('generated', 'revealed'))`,
    step: STEP,
    measures: {
      journeys: ownJourneys('Took any step'),
      teaser_viewers: ownJourneysThat('teaser_view', 'Saw a teaser'),
      reward_viewers: ownJourneysThat('reward_view', 'Saw a reward'),
      clickers: ownJourneysThat('incentive_click', 'Clicked'),
      converters: ownJourneysThat('conversion', 'Converted'),
      gift_recipients: ownJourneysThat('generated', 'Got a reward link'),
      gift_openers: ownJourneysThat('revealed', 'Revealed a gift card'),
      gift_only_recipients: ownJourneysThatOnly('generated', 'Got a reward link and took no other step'),
      click_rate: rate('clickers', 'journeys'),
      journey_conversion_rate: rate('converters', 'journeys'),
      conversion_rate: rate('converters', 'clickers'),
      events_without_journey: countWhere(
        HAS_DERIVED_JOURNEY,
        'Events without a journey of their own; no other measure here counts them',
      ),
    },
    dimensions: { ...occurred, ...perk, ...campaign, ...utm },
    drillMembers: ['occurred_at', 'campaign_name', 'utm_source', 'utm_campaign'],
  },
];
