/**
 * The rollups: tables of cells that say for a closed hour or day what the raw rows say. Declared once, for the refresher that
 * fills them and for the compiler that reads them. Here are only those that were measured to pay.
 */

/** A cell is `c`, an event row `e`. */
export interface Rollup {
  table: string;
  /** What its column of the same name holds the start of, in UTC. */
  grain: 'hour' | 'day';
  /** Types of events that have cells. */
  eventTypes: readonly string[];
  /** Dimensions (by the name of the member) that the cells still have, as SQL. */
  dimensions: Record<string, string>;
  /** Measures that can be added up from cells, as SQL of what is added; `cube.measure` where a cube has its own. */
  measures: Record<string, string>;
  /** Columns after account, type and time: what each is called, and its SQL over the rows of a cell. */
  columns: Record<string, string>;
  /** The columns among those that tell the cells of one account, type and time apart. */
  key: readonly string[];
  /** What spreads an event over several cells. */
  from?: string;
}

const PEOPLE = "count(*) filter (where e.traffic_class is null or e.traffic_class = 'human')";
const CAMPAIGN_TYPES = ['teaser_view', 'reward_view', 'incentive_click', 'conversion'] as const;

export const ROLLUPS: readonly Rollup[] = [
  {
    table: 'event_hours',
    grain: 'hour',
    eventTypes: ['perk_view', 'perk_click', ...CAMPAIGN_TYPES, 'reward_link'],
    dimensions: {},
    measures: {
      count: 'c.events',
      'perk_views.count': 'c.perks',
      count_people: 'c.people',
      value: 'c.value',
    },
    columns: {
      events: 'count(*)',
      people: PEOPLE,
      perks: 'coalesce(sum(e.perk_count), 0)',
      value: 'sum(e.value)',
    },
    key: [],
  },
  {
    table: 'perk_days',
    grain: 'day',
    eventTypes: ['perk_view', 'perk_click'],
    dimensions: { perk_id: 'c.perk_id' },
    measures: { count: 'c.events', count_people: 'c.people' },
    columns: { perk_id: 'p.perk_id', events: 'count(*)', people: PEOPLE },
    key: ['perk_id'],
    from: 'cross join lateral unnest(coalesce(e.perk_ids, array[e.perk_id])) as p (perk_id)',
  },
  {
    table: 'campaign_days',
    grain: 'day',
    eventTypes: CAMPAIGN_TYPES,
    dimensions: { campaign_id: 'c.campaign_id' },
    measures: { count: 'c.events', count_people: 'c.people', value: 'c.value' },
    columns: {
      campaign_id: 'e.campaign_id',
      events: 'count(*)',
      people: PEOPLE,
      value: 'sum(e.value)',
    },
    key: ['campaign_id'],
  },
];
