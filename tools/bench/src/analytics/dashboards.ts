/** Limit of a query for live figures, in milliseconds. */
export const LIVE_LIMIT_MS = 5;

export interface Dashboard {
  name: string;
  query: object | object[];
  /** The best handwritten statements over the raw rows; the fastest one counts. `$1` is the account. */
  best: string[];
  limitMs?: number;
}

const since = (days: number) => {
  const day = 24 * 3_600_000;
  const today = Math.floor(Date.now() / day) * day;
  return [
    new Date(today - days * day).toISOString().slice(0, 10),
    new Date(today - 1).toISOString().slice(0, 10),
  ];
};
export const time = (cube: string, granularity: string | undefined, days: number) => ({
  timeDimensions: [{ dimension: `${cube}.occurred_at`, granularity, dateRange: since(days) }],
});
const rows = (type: string, days: number) =>
  `tracking_events e where e.account_id = $1 and e.type = '${type}' and ${during(days)}`;
const during = (days: number) => {
  const [from, to] = since(days);
  return `e.occurred_at >= '${from}Z' and e.occurred_at < '${to}Z'::timestamptz + interval '1 day'`;
};
const PEOPLE = "filter (where e.traffic_class is null or e.traffic_class = 'human')";

const grouped = (type: string, granularity: string, days: number, measure = 'count(*)') =>
  `select date_trunc('${granularity}', e.occurred_at at time zone 'UTC') as t, ${measure} from ${rows(type, days)} group by 1 order by 1`;
/** One count per time bucket. */
const bucketed = (type: string, granularity: string, days: number, measure = 'count(*)') => {
  const [from, to] = since(days);
  return `select b.t, n from generate_series(date_trunc('${granularity}', '${from}'::timestamp), '${to}'::timestamp, interval '1 ${granularity}') as b (t)
    cross join lateral (select ${measure} as n from ${rows(type, days)}
      and e.occurred_at >= b.t at time zone 'UTC' and e.occurred_at < (b.t + interval '1 ${granularity}') at time zone 'UTC') c order by 1`;
};
const byTime = (
  cube: string,
  type: string,
  granularity: string,
  days: number,
  name = 'count',
  measure = 'count(*)',
) => ({
  query: { measures: [`${cube}.${name}`], ...time(cube, granularity, days) },
  best: [grouped(type, granularity, days, measure), bucketed(type, granularity, days, measure)],
});
const titled = (table: string, key: string, name: string, inner: string, order: string) =>
  `select ${name}, g.* from (${inner}) g left join ${table} n on n.${key} = g.id ${table === 'campaign_names' ? 'and n.account_id = $1' : ''} ${order}`;

export const DASHBOARDS: Dashboard[] = [
  { name: '1 clicks by day, 30 d', ...byTime('perk_clicks', 'perk_click', 'day', 30) },
  { name: '2 teaser views by week, 90 d', ...byTime('teaser_views', 'teaser_view', 'week', 90) },
  {
    name: '3 top 20 perks with titles, 90 d',
    query: {
      measures: ['perk_clicks.count'],
      dimensions: ['perk_clicks.perk_id', 'perk_clicks.perk_title'],
      ...time('perk_clicks', undefined, 90),
      limit: 20,
    },
    best: [
      titled(
        'perk_names',
        'perk_id',
        'n.title',
        `select e.perk_id as id, count(*) as n from ${rows('perk_click', 90)} group by 1 order by 2 desc limit 20`,
        'order by g.n desc',
      ),
    ],
  },
  {
    name: '4 perk views by perk, 30 d',
    query: {
      measures: ['perk_views.count'],
      dimensions: ['perk_views.perk_id'],
      ...time('perk_views', undefined, 30),
    },
    best: [
      `select p, count(*) from tracking_events e cross join lateral unnest(e.perk_ids) p where e.account_id = $1 and e.type = 'perk_view' and ${during(30)} group by 1 order by 2 desc`,
    ],
  },
  {
    name: '5 teaser views by campaign and name, 90 d',
    query: {
      measures: ['teaser_views.count'],
      dimensions: ['teaser_views.campaign_id', 'teaser_views.campaign_name'],
      ...time('teaser_views', undefined, 90),
    },
    best: [
      titled(
        'campaign_names',
        'campaign_id',
        'n.name',
        `select e.campaign_id as id, count(*) as n from ${rows('teaser_view', 90)} group by 1`,
        'order by g.n desc',
      ),
    ],
  },
  {
    name: '6 views, clicks, conversions by day (blend), 30 d',
    query: [
      ['teaser_views', 'count'],
      ['incentive_clicks', 'count'],
      ['conversions', 'count'],
    ].map(([cube, measure]) => ({ measures: [`${cube}.${measure}`], ...time(cube!, 'day', 30) })),
    best: [grouped, bucketed].map((way) =>
      ['teaser_view', 'incentive_click', 'conversion'].map((type) => way(type, 'day', 30)).join(';'),
    ),
  },
  {
    name: '7 clicks by cmeta_segment, 30 d',
    query: {
      measures: ['perk_clicks.count'],
      dimensions: ['perk_clicks.cmeta_segment'],
      ...time('perk_clicks', undefined, 30),
    },
    best: [`select e.cmeta->>'segment', count(*) from ${rows('perk_click', 30)} group by 1 order by 2 desc`],
  },
  {
    name: '8 teaser views by an attribute and utm_source, 90 d',
    query: {
      measures: ['teaser_views.count'],
      dimensions: ['teaser_views.cmeta_plan', 'teaser_views.utm_source'],
      ...time('teaser_views', undefined, 90),
    },
    best: [
      `select e.cmeta->>'plan', e.utm_source, count(*) from ${rows('teaser_view', 90)} group by 1, 2 order by 3 desc`,
    ],
  },
  {
    name: '9 count_people by day, 90 d',
    ...byTime('teaser_views', 'teaser_view', 'day', 90, 'count_people', `count(*) ${PEOPLE}`),
  },
  {
    name: '10 journeys by campaign, 30 d',
    query: {
      measures: ['teaser_views.journeys'],
      dimensions: ['teaser_views.campaign_id'],
      ...time('teaser_views', undefined, 30),
    },
    best: [
      `select e.campaign_id, count(distinct e.journey_id) from ${rows('teaser_view', 30)} group by 1 order by 2 desc`,
      `select campaign_id, count(*) from (select e.campaign_id, e.journey_id from ${rows('teaser_view', 30)} group by 1, 2) j group by 1 order by 2 desc`,
    ],
  },
  { name: '11 teaser views, a year by month', ...byTime('teaser_views', 'teaser_view', 'month', 365) },
  {
    name: '12 clicks today, live',
    query: {
      measures: ['perk_clicks.count'],
      timeDimensions: [{ dimension: 'perk_clicks.occurred_at', dateRange: 'today' }],
    },
    best: [
      `select count(*) from tracking_events e where e.account_id = $1 and e.type = 'perk_click' and e.occurred_at >= date_trunc('day', now(), 'UTC')`,
    ],
    limitMs: LIVE_LIMIT_MS,
  },
  {
    name: '13 contains and notEquals by day, 30 d',
    query: {
      measures: ['teaser_views.count'],
      ...time('teaser_views', 'day', 30),
      filters: [
        { member: 'teaser_views.utm_source', operator: 'contains', values: ['e'] },
        { member: 'teaser_views.cmeta_plan', operator: 'notEquals', values: ['basic'] },
      ],
    },
    best: [
      `select date_trunc('day', e.occurred_at at time zone 'UTC'), count(*) from ${rows('teaser_view', 30)} and e.utm_source ilike '%e%' and (e.cmeta->>'plan' <> 'basic' or e.cmeta->>'plan' is null) group by 1 order by 1`,
    ],
  },
  {
    name: '14 perk views, a year by month',
    ...byTime('perk_views', 'perk_view', 'month', 365, 'count', 'sum(e.perk_count)'),
  },
];
