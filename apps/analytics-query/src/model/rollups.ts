/**
 * The rollups: tables that hold, for each closed hour or day, the same counts as the raw rows. Declared once for the
 * refresher that fills them and the compiler that reads them. Only rollups whose benefit was measured are here.
 */

/** In the SQL, `c` is a rollup row and `e` an event row. */
export interface Rollup {
  table: string;
  /** The column of this name holds the start of the hour or day, in UTC. */
  grain: 'hour' | 'day';
  /**
   * Event types that the rollup covers. Adding a type that already has events needs a migration that recomputes the
   * closed hours, because they have no rollup rows of that type.
   */
  eventTypes: readonly string[];
  /** SQL of the dimensions that rollup rows still have, by member name. */
  dimensions: Record<string, string>;
  /** SQL of the values to sum, by name of the measure. A key `cube.measure` replaces the measure's SQL for one cube. */
  measures: Record<string, string>;
  /** Columns after account, type and time: name, and SQL over the event rows of one rollup row. */
  columns: Record<string, string>;
  /** The columns that distinguish the rollup rows of one account, type and time. */
  key: readonly string[];
  /** A join that spreads an event over several rollup rows. */
  from?: string;
}

const IS_PEOPLE = "(e.traffic_class is null or e.traffic_class = 'human')";
const PEOPLE = `count(*) filter (where ${IS_PEOPLE})`;
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
      // Null in rows of earlier releases, when only servers read collections: every view counts as one by people.
      'perk_views.count_people': 'coalesce(c.perks_people, c.perks)',
      count_people: 'c.people',
      value: 'c.value',
    },
    columns: {
      events: 'count(*)',
      people: PEOPLE,
      perks: 'coalesce(sum(e.perk_count), 0)',
      perks_people: `coalesce(sum(e.perk_count) filter (where ${IS_PEOPLE}), 0)`,
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
