/** Examples for the OpenAPI document. */
export const QUERY_EXAMPLE = {
  measures: ['perk_clicks.count'],
  timeDimensions: [
    { dimension: 'perk_clicks.occurred_at', granularity: 'day', dateRange: 'from 6 days ago to now' },
  ],
  filters: [{ member: 'perk_clicks.collection_id', operator: 'equals', values: ['summer'] }],
};

const DRILL_MEMBERS = ['perk_clicks.occurred_at', 'perk_clicks.perk_title'];
const COUNT = {
  title: 'Perk Clicks Count',
  shortTitle: 'Count',
  description: 'Total, including bots, prefetches and mail proxies',
  type: 'number',
  drillMembers: DRILL_MEMBERS,
  drillMembersGrouped: { measures: [], dimensions: DRILL_MEMBERS },
};
const OCCURRED_AT = { title: 'Perk Clicks Occurred At', shortTitle: 'Occurred At', type: 'time' };

export const LOAD_EXAMPLE = {
  query: {
    measures: ['perk_clicks.count'],
    dimensions: [],
    timeDimensions: [
      {
        dimension: 'perk_clicks.occurred_at',
        granularity: 'day',
        dateRange: ['2026-03-01T00:00:00.000', '2026-03-07T23:59:59.999'],
      },
    ],
    filters: [{ operator: 'equals', values: ['summer'], member: 'perk_clicks.collection_id' }],
    limit: 10000,
    rowLimit: 10000,
    timezone: 'UTC',
  },
  lastRefreshTime: '2026-03-08T09:30:00.000Z',
  annotation: {
    measures: { 'perk_clicks.count': COUNT },
    dimensions: {},
    segments: {},
    timeDimensions: {
      'perk_clicks.occurred_at.day': {
        ...OCCURRED_AT,
        granularity: { name: 'day', title: 'day', interval: '1 day' },
      },
      'perk_clicks.occurred_at': OCCURRED_AT,
    },
  },
  dataSource: 'default',
  dbType: 'postgres',
  external: false,
  slowQuery: false,
  data: [
    {
      'perk_clicks.occurred_at.day': '2026-03-01T00:00:00.000',
      'perk_clicks.occurred_at': '2026-03-01T00:00:00.000',
      'perk_clicks.count': '57',
    },
  ],
};

export const LOAD_CSV_EXAMPLE =
  'perk_clicks.occurred_at.day,perk_clicks.count\r\n2026-03-01T00:00:00.000,57\r\n';

export const META_EXAMPLE = {
  cubes: [
    {
      name: 'perk_clicks',
      type: 'cube',
      title: 'Perk Clicks',
      description: 'Clicks on the `click_url` of a perk',
      isVisible: true,
      public: true,
      connectedComponent: 2,
      measures: [
        {
          name: 'perk_clicks.count',
          ...COUNT,
          formatDescription: { name: 'number', specifier: ',.2f' },
          cumulativeTotal: false,
          cumulative: false,
          aggType: 'count',
          isVisible: true,
          public: true,
        },
      ],
      dimensions: [
        {
          name: 'perk_clicks.cmeta_user_id',
          title: 'Perk Clicks Cmeta User ID',
          shortTitle: 'Cmeta User ID',
          type: 'string',
          suggestFilterValues: true,
          isVisible: true,
          public: true,
          primaryKey: false,
        },
      ],
      segments: [],
      hierarchies: [],
      folders: [],
      nestedFolders: [],
    },
  ],
};

const TRANSFORMED = {
  measures: ['perk_clicks.count'],
  leafMeasures: ['perk_clicks.count'],
  sortedDimensions: [],
  sortedTimeDimensions: [['perk_clicks.occurred_at', 'day']],
  timeDimensions: [['perk_clicks.occurred_at', 'day']],
  isAdditive: true,
  leafMeasureAdditive: true,
  hasNoTimeDimensionsWithoutGranularity: true,
  ungrouped: false,
};

export const SQL_EXAMPLE = {
  sql: {
    sql: ['select ... from tracking_events e where e.account_id = $1 ...', ['acme']],
    order: { 'perk_clicks.occurred_at': 'asc' },
    external: false,
    timeDimensionAlias: 'perk_clicks__occurred_at_day',
    timeDimensionField: 'perk_clicks.occurred_at',
    cacheKeyQueries: [],
    preAggregations: [],
    dataSource: 'default',
    aliasNameToMember: {
      perk_clicks__occurred_at_day: 'perk_clicks.occurred_at.day',
      perk_clicks__count: 'perk_clicks.count',
    },
    lambdaQueries: {},
    canUseTransformedQuery: TRANSFORMED,
    memberNames: ['perk_clicks.count', 'perk_clicks.occurred_at'],
  },
  dataSource: 'default',
};

export const DRY_RUN_EXAMPLE = {
  queryType: 'regularQuery',
  normalizedQueries: [LOAD_EXAMPLE.query],
  queryOrder: [{ 'perk_clicks.occurred_at': 'asc' }],
  transformedQueries: [TRANSFORMED],
  pivotQuery: { ...LOAD_EXAMPLE.query, queryType: 'regularQuery' },
};
