import { ApiError } from '@perkway/domain';
import { normalize } from './normalize.js';

const NOW = Date.UTC(2026, 2, 18, 14, 30, 15, 250);
const one = (query: unknown) => normalize(query, NOW).queries[0]!;
const refusal = (query: unknown): ApiError => {
  try {
    normalize(query, NOW);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(query)}`);
};

describe('normalize', () => {
  it('fills in defaults', () => {
    expect(one({ measures: ['perk_clicks.count'] })).toEqual({
      measures: ['perk_clicks.count'],
      dimensions: [],
      timeDimensions: [],
      filters: [],
      limit: 10_000,
      rowLimit: 10_000,
      timezone: 'UTC',
    });
  });

  it('keeps what was given and nothing else', () => {
    const query = one({
      measures: ['perk_clicks.count'],
      dimensions: ['perk_clicks.perk_id', 'perk_clicks.occurred_at.month'],
      timeDimensions: [
        { dimension: 'perk_clicks.occurred_at', granularity: 'day', dateRange: 'last 7 days' },
      ],
      filters: [
        { dimension: 'perk_clicks.perk_id', operator: 'equals', values: ['a', 1, true, null] },
        { or: [] },
        { and: [{ or: [{ member: 'perk_clicks.perk_id', operator: 'set' }] }] },
      ],
      order: { 'perk_clicks.count': 'desc' },
      limit: 0,
      offset: 5,
      total: true,
      ungrouped: false,
      timezone: 'europe/berlin',
      responseFormat: 'compact',
      cache: 'no-cache',
      renewQuery: true,
    });
    expect(query).toEqual({
      measures: ['perk_clicks.count'],
      dimensions: ['perk_clicks.perk_id'],
      timeDimensions: [
        {
          dimension: 'perk_clicks.occurred_at',
          granularity: 'day',
          dateRange: ['2026-03-11T00:00:00.000', '2026-03-17T23:59:59.999'],
        },
        { dimension: 'perk_clicks.occurred_at', granularity: 'month' },
      ],
      filters: [
        { member: 'perk_clicks.perk_id', operator: 'equals', values: ['a', '1', 'true', null] },
        { and: [{ or: [{ member: 'perk_clicks.perk_id', operator: 'set' }] }] },
      ],
      order: [{ id: 'perk_clicks.count', desc: true }],
      limit: 0,
      rowLimit: 0,
      offset: 5,
      total: true,
      ungrouped: false,
      timezone: 'Europe/Berlin',
      responseFormat: 'compact',
    });
  });

  it('accepts both forms of order, including empty ones', () => {
    const order = (given: unknown) => one({ measures: ['a.b'], order: given }).order;
    expect(
      order([
        ['a.b', 'desc'],
        ['a.c', 'asc'],
      ]),
    ).toEqual([
      { id: 'a.b', desc: true },
      { id: 'a.c', desc: false },
    ]);
    expect(order([])).toEqual([]);
    expect(order({})).toEqual([]);
    expect(order(undefined)).toBeUndefined();
  });

  it.each([
    ['utc', 'UTC'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['america/argentina/buenos_aires', 'America/Argentina/Buenos_Aires'],
  ])('corrects the spelling of the time zone %s', (given, proper) => {
    expect(one({ measures: ['a.b'], timezone: given }).timezone).toBe(proper);
  });

  it('resolves relative dates in filters and in groups of filters', () => {
    const filter = (operator: string, ...values: string[]) => ({ member: 'c.occurred_at', operator, values });
    const { filters } = one({
      measures: ['c.count'],
      filters: [
        { or: [filter('inDateRange', 'last week'), filter('onTheDate', '2026-01-05')] },
        filter('beforeDate', 'this month'),
        filter('afterOrOnDate', 'this month'),
        filter('beforeOrOnDate', 'this month'),
        filter('afterDate', 'this month'),
        filter('beforeOrOnDate', '2026-01-05'),
        filter('inDateRange', '2026-01-05', '2026-01-06T10:00:00'),
      ],
    });
    expect(filters).toEqual([
      {
        or: [
          filter('inDateRange', '2026-03-09T00:00:00.000', '2026-03-15T23:59:59.999'),
          filter('onTheDate', '2026-01-05T00:00:00.000', '2026-01-05T23:59:59.999'),
        ],
      },
      filter('beforeDate', '2026-03-01T00:00:00.000'),
      filter('afterOrOnDate', '2026-03-01T00:00:00.000'),
      filter('beforeOrOnDate', '2026-03-31T23:59:59.999'),
      filter('afterDate', '2026-03-31T23:59:59.999'),
      filter('beforeOrOnDate', '2026-01-05'),
      filter('inDateRange', '2026-01-05', '2026-01-06T10:00:00'),
    ]);
  });

  it('returns one query per compared range', () => {
    const { queryType, queries } = normalize(
      {
        measures: ['c.count'],
        timeDimensions: [
          {
            dimension: 'c.occurred_at',
            granularity: 'day',
            compareDateRange: ['this week', ['2026-01-01', '2026-01-07']],
          },
        ],
      },
      NOW,
    );
    expect(queryType).toBe('compareDateRangeQuery');
    expect(queries.map(({ timeDimensions }) => timeDimensions[0])).toEqual([
      {
        dimension: 'c.occurred_at',
        granularity: 'day',
        dateRange: ['2026-03-16T00:00:00.000', '2026-03-22T23:59:59.999'],
      },
      {
        dimension: 'c.occurred_at',
        granularity: 'day',
        dateRange: ['2026-01-01T00:00:00.000', '2026-01-07T23:59:59.999'],
      },
    ]);
  });

  it('blends several queries of one granularity', () => {
    const query = (granularity?: string) => ({
      measures: ['c.count'],
      timeDimensions: [{ dimension: 'c.occurred_at', granularity }],
    });
    expect(normalize([query('day'), query('day')], NOW).queryType).toBe('blendingQuery');
    expect(refusal([query('day'), query('week')]).detail).toBe(
      'Data blending query granularities must match',
    );
    expect(refusal([query(), query()]).detail).toBe(
      'Data blending query without granularity is not supported',
    );
  });
});

describe('rejected queries', () => {
  const valid = { measures: ['c.count'] };
  it.each<[unknown, string]>([
    [
      {},
      'Query should contain either measures, dimensions or timeDimensions with granularities in order to be valid',
    ],
    [
      { timeDimensions: [{ dimension: 'c.t', dateRange: 'today' }] },
      'Query should contain either measures, dimensions or timeDimensions with granularities in order to be valid',
    ],
    [null, 'Invalid query format: "value" must be of type object'],
    ['text', 'Invalid query format: "value" must be of type object'],
    [{ ...valid, foo: 1 }, 'Invalid query format: "foo" is not allowed'],
    [{ ...valid, constructor: 1 }, 'Invalid query format: "constructor" is not allowed'],
    [{ measures: 'c.count' }, 'Invalid query format: "measures" must be an array'],
    [
      { measures: ['count'] },
      'Invalid query format: "measures[0]" with value "count" fails to match the required pattern: /^[a-zA-Z0-9_]+\\.[a-zA-Z0-9_]+$/',
    ],
    [{ measures: [1] }, 'Invalid query format: "measures[0]" must be a string'],
    [{ ...valid, limit: '5' }, 'Invalid query format: "limit" must be a number'],
    [{ ...valid, limit: -1 }, 'Invalid query format: "limit" must be greater than or equal to 0'],
    [{ ...valid, limit: 1.5 }, 'Invalid query format: "limit" must be an integer'],
    [{ ...valid, offset: '0' }, 'Invalid query format: "offset" must be a number'],
    [{ ...valid, total: 'maybe' }, 'Invalid query format: "total" must be a boolean'],
    [
      { ...valid, timezone: 'Mars/Olympus' },
      'Invalid query format: "timezone" must be a valid IANA time zone, got "Mars/Olympus"',
    ],
    [
      { ...valid, timezone: "UTC'; select 1" },
      'Invalid query format: "timezone" must be a valid IANA time zone',
    ],
    [{ ...valid, timezone: '+02:00' }, 'Invalid query format: "timezone" must be a valid IANA time zone'],
    [
      { ...valid, responseFormat: 'xml' },
      'Invalid query format: "responseFormat" must be one of [default, compact, columnar]',
    ],
    [
      { ...valid, order: { 'c.count': 'up' } },
      'Invalid query format: "order.c.count" must be one of [asc, desc]',
    ],
    [{ ...valid, order: ['c.count'] }, 'Invalid query format: "order[0]" must be an array'],
    [
      { timeDimensions: [{ granularity: 'day' }] },
      'Invalid query format: "timeDimensions[0].dimension" is required',
    ],
    [
      { timeDimensions: [{ dimension: 'c.t', granularity: null }] },
      'Invalid query format: "timeDimensions[0].granularity" must be a string',
    ],
    [
      { timeDimensions: [{ dimension: 'c.t', granularity: 'day', dateRange: null }] },
      'Invalid query format: "timeDimensions[0].dateRange" must be one of [array, string]',
    ],
    [
      { timeDimensions: [{ dimension: 'c.t', granularity: 'day', dateRange: [] }] },
      'Invalid query format: "timeDimensions[0].dateRange" must contain at least 1 items',
    ],
    [
      {
        timeDimensions: [
          { dimension: 'c.t', granularity: 'day', dateRange: 'today', compareDateRange: ['today'] },
        ],
      },
      'Invalid query format: "timeDimensions[0]" contains a conflict between optional exclusive peers [dateRange, compareDateRange]',
    ],
    [
      { timeDimensions: [{ dimension: 'c.t', granularity: 'day', dateRange: 'whenever' }] },
      "Can't parse date: 'whenever'",
    ],
    [{ ...valid, filters: {} }, 'Invalid query format: "filters" must be an array'],
    [{ ...valid, filters: [{ member: 'c.a' }] }, 'Invalid query format: "filters[0].operator" is required'],
    [
      { ...valid, filters: [{ operator: 'set' }] },
      'Invalid query format: "filters[0]" must contain at least one of [dimension, member]',
    ],
    [
      { ...valid, filters: [{ member: 'c.a', operator: 'like', values: ['x'] }] },
      'Invalid query format: "filters[0].operator" must be one of [equals, notEquals,',
    ],
    [
      { ...valid, filters: [{ member: 'c.a', operator: 'equals', values: [{}] }] },
      'Invalid query format: "filters[0].values[0]" must be one of [string, number, boolean]',
    ],
    [
      { ...valid, filters: [{ member: 'c.a', operator: 'equals' }] },
      'Values required for filter: {"member":"c.a","operator":"equals"}',
    ],
    [
      { ...valid, filters: [{ and: [{ member: 'c.a', operator: 'gt', values: [] }] }] },
      'Values required for filter: {"member":"c.a","operator":"gt","values":[]}',
    ],
    [
      { ...valid, filters: [{ member: 'c.t', operator: 'inDateRange', values: ['last week', 'today'] }] },
      'Relative-date strings are only supported when `values` has a single element for operator `inDateRange`.',
    ],
    [
      {
        ...valid,
        timeDimensions: [
          { dimension: 'c.t', compareDateRange: ['today'] },
          { dimension: 'c.u', compareDateRange: ['today'] },
        ],
      },
      'compareDateRange can only exist for one timeDimension',
    ],
    [[], 'Query param is required'],
  ])('%j', (query, message) => {
    const error = refusal(query);
    expect(error.detail).toContain(message);
    expect(error.status).toBe(400);
  });

  it("uses Cube's status for a limit that is too high", () => {
    const error = refusal({ ...valid, limit: 50_001 });
    expect([error.status, error.detail]).toEqual([500, 'Error: The query limit has been exceeded.']);
  });

  it('rejects too many members, wherever they are', () => {
    const names = Array.from({ length: 400 }, (_, index) => `c.a${index}`);
    const wide = {
      dimensions: names,
      order: names.map((name) => [name, 'asc']),
      filters: names.map((member) => ({ or: [{ member, operator: 'set' }] })),
      timeDimensions: [{ dimension: 'c.t', granularity: 'day' }],
    };
    expect(normalize(wide, NOW).queries).toHaveLength(1);
    expect(refusal([wide, wide]).detail).toBe(
      'The queries of one request may reference at most 2000 members in total',
    );
  });

  it.each([
    ['values', 19_999, '1', '20000 values'],
    ['characters', 100, 'x'.repeat(4_000), '500000 characters'],
  ])('rejects too many %s, counting compared ranges', (_, length, text, most) => {
    const filters = [{ member: 'c.a', operator: 'equals', values: Array.from({ length }, () => text) }];
    const over = (ranges: string[]) => ({
      ...valid,
      filters,
      timeDimensions: [{ dimension: 'c.t', granularity: 'day', compareDateRange: ranges }],
    });
    expect(normalize(over(['today']), NOW).queries).toHaveLength(1);
    expect(refusal(over(['today', 'yesterday'])).detail).toContain(`at most ${most} in total`);
  });

  it('rejects too many dates, wherever they are', () => {
    const time = { dimension: 'perk_clicks.occurred_at', dateRange: ['2026-01-01', '2026-01-02'] };
    const query = (filters: object[], times = 1) => ({
      ...valid,
      filters,
      timeDimensions: Array.from({ length: times }, () => time),
    });
    const filter = (member: string, operator: string, length: number) => ({
      member,
      operator,
      values: Array.from({ length }, () => '2026-01-01'),
    });
    const most = 'at most 200 dates in total';
    expect(refusal(query([], 101)).detail).toContain(most);
    expect(refusal([query([], 60), query([], 60)]).detail).toContain(most);
    expect(refusal(query([filter('perk_clicks.occurred_at', 'equals', 199)])).detail).toContain(most);
    expect(refusal(query([filter('c.t', 'inDateRange', 199)])).detail).toContain(most);
    expect(normalize(query([filter('perk_clicks.perk_id', 'equals', 199)]), NOW).queries).toHaveLength(1);
  });

  it('rejects deeply nested filters', () => {
    let filter: unknown = { member: 'c.a', operator: 'set' };
    for (let depth = 0; depth < 1_000; depth += 1) filter = { and: [filter] };
    expect(refusal({ ...valid, filters: [filter] }).detail).toContain('is nested too deeply');
  });

  it('rejects deep nesting where no array is allowed', () => {
    const total = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
    expect(refusal({ ...valid, total }).detail).toContain('"total" must be a boolean');
  });
});
