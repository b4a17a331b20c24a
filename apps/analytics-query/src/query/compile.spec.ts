import fc from 'fast-check';
import { CUBES } from '../model/cubes.js';
import { modelFor } from '../model/model.js';
import { compile, compileTogether, isOneRow } from './compile.js';
import { normalize } from './normalize.js';
import { OPERATORS } from './query.js';

const NOW = Date.UTC(2026, 2, 18, 14, 30, 15, 250);
const model = modelFor(['user-id', 'user_id', 'plan'].map((name) => ({ name })));
const compileQuery = (query: unknown) => compile(normalize(query, NOW).queries[0]!, model, 'acme');
const sql = (query: unknown): string => compileQuery(query).text.replace(/\s+/g, ' ');
const where = (query: unknown): string =>
  /where (.*?)(?: group by| having| order by| limit)/.exec(sql(query))![1]!;
const filtered = (filter: object, measures = ['perk_clicks.count']) => {
  const { params, ...compiled } = compileQuery({ measures, filters: [filter] });
  const text = compiled.text.replace(/\s+/g, ' ');
  return {
    where: text.replace(/^.*e\.type = '\w+'(?: and )?(.*?)(?: order by.*)?$/, '$1'),
    params: params.slice(1),
  };
};

describe('compile', () => {
  it('always filters by account and type, with the account as the first parameter', () => {
    for (const cube of CUBES) {
      const [measure] = Object.keys(cube.measures);
      const { text, params } = compileQuery({ measures: [`${cube.name}.${measure}`] });
      const [only, ...others] = cube.eventTypes;
      expect(text).toContain(
        `where e.account_id = $1\n  and e.type ${others.length === 0 ? `= '${only}'` : `in ('${cube.eventTypes.join("', '")}')`}`,
      );
      expect(params).toEqual(['acme']);
    }
  });

  it('groups by dimensions and times, measures last', () => {
    expect(
      sql({
        measures: ['perk_clicks.count', 'perk_clicks.count_people'],
        dimensions: ['perk_clicks.perk_id'],
        timeDimensions: [{ dimension: 'perk_clicks.occurred_at', granularity: 'week' }],
      }),
    ).toBe(
      'select e.perk_id as "perk_clicks__perk_id", ' +
        `date_trunc('week', (e.occurred_at at time zone 'UTC')) as "perk_clicks__occurred_at_week", ` +
        'count(*) as "perk_clicks__count", ' +
        `count(*) filter (where (e.traffic_class is null or e.traffic_class = 'human')) as "perk_clicks__count_people" ` +
        `from tracking_events e where e.account_id = $1 and e.type = 'perk_click' ` +
        'group by 1, 2 order by 2 asc, 1 asc limit 10000',
    );
  });

  it('reads times in the zone of the query and compares instants', () => {
    const compiled = compileQuery({
      timeDimensions: [
        { dimension: 'perk_clicks.occurred_at', granularity: 'day', dateRange: ['2026-03-28', '2026-03-29'] },
      ],
      timezone: 'Europe/Berlin',
    });
    expect(compiled.text).toContain(`date_trunc('day', (e.occurred_at at time zone 'Europe/Berlin'))`);
    expect(compiled.text).toContain(
      'e.occurred_at >= $2::timestamptz\n  and e.occurred_at <= $3::timestamptz',
    );
    // Daylight saving time starts on the 29th.
    expect(compiled.params).toEqual(['acme', '2026-03-27T23:00:00.000Z', '2026-03-29T21:59:59.999Z']);
  });

  it('counts a view per perk, and spreads perks over rows only in queries about perks', () => {
    expect(sql({ measures: ['perk_views.count'] })).toContain('coalesce(sum(e.perk_count), 0)::bigint');
    expect(sql({ measures: ['perk_views.count'] })).not.toContain('unnest');
    for (const query of [
      { measures: ['perk_views.count'], dimensions: ['perk_views.perk_id'] },
      { measures: ['perk_views.count'], filters: [{ member: 'perk_views.partner_id', operator: 'set' }] },
      { measures: ['perk_views.count'], ungrouped: true },
    ]) {
      expect(sql(query)).toContain('cross join lateral unnest(e.perk_ids) as p (perk_id)');
      expect(sql(query)).not.toContain('perk_count');
    }
  });

  it('joins names to groups of ids if the result is the same, otherwise to the rows', () => {
    expect(sql({ measures: ['perk_views.count'], dimensions: ['perk_views.perk_title'] })).toBe(
      'select pn.title as "perk_views__perk_title", coalesce(sum(g.m0), 0)::bigint as "perk_views__count" ' +
        'from ( select p.perk_id as k0, count(*) as m0 from tracking_events e cross join lateral unnest(e.perk_ids) as p (perk_id) ' +
        `where e.account_id = $1 and e.type = 'perk_view' group by 1 ) g ` +
        'left join perk_names pn on pn.perk_id = g.k0 group by 1 order by 2 desc, 1 asc limit 10000',
    );
    // Journeys of two perks with one title cannot be added up.
    expect(sql({ measures: ['perk_clicks.journeys'], dimensions: ['perk_clicks.perk_title'] })).toContain(
      'from tracking_events e left join perk_names pn on pn.perk_id = e.perk_id where',
    );
    expect(
      sql({
        measures: ['teaser_views.journeys'],
        dimensions: ['teaser_views.campaign_id', 'teaser_views.campaign_name'],
      }),
    ).toContain('group by 1 ) g left join campaign_names cn on cn.account_id = $1 and cn.campaign_id = g.k0');
    // A filter on a name applies to groups, unless it is combined with one on rows.
    const named = { member: 'perk_clicks.perk_title', operator: 'contains', values: ['a'] };
    const measured = { measures: ['perk_clicks.count'] };
    expect(sql({ ...measured, filters: [named] })).toContain(
      'left join perk_names pn on pn.perk_id = g.k0 where (pn.title ilike any($2::text[])) order by',
    );
    expect(
      sql({ ...measured, filters: [{ or: [named, { member: 'perk_clicks.journey_id', operator: 'set' }] }] }),
    ).toContain('from tracking_events e left join perk_names pn on pn.perk_id = e.perk_id where');
  });

  it('reads every attribute name that folds onto a dimension', () => {
    expect(sql({ dimensions: ['conversions.cmeta_user_id'] })).toContain(
      `coalesce(e.cmeta->>'user-id', e.cmeta->>'user_id') as "conversions__cmeta_user_id"`,
    );
    expect(sql({ dimensions: ['conversions.cmeta_plan'] })).toContain(`(e.cmeta->>'plan')`);
  });

  it("orders as requested, ignores members that are not selected, and has Cube's default order", () => {
    const order = (query: object) => /(order by .*?)? limit/.exec(sql(query))![1];
    const base = {
      measures: ['perk_clicks.count'],
      dimensions: ['perk_clicks.perk_id', 'perk_clicks.collection_id'],
    };
    expect(order(base)).toBe('order by 3 desc, 1 asc, 2 asc');
    expect(order({ dimensions: ['perk_clicks.perk_id', 'perk_clicks.collection_id'] })).toBe(
      'order by 1 asc, 2 asc',
    );
    expect(
      order({ ...base, order: { 'perk_clicks.collection_id': 'desc', 'perk_clicks.count': 'asc' } }),
    ).toBe('order by 2 desc, 3 asc, 1 asc');
    expect(order({ ...base, order: [['perk_clicks.partner_id', 'asc']] })).toBeUndefined();
    expect(order({ ...base, order: [] })).toBeUndefined();
    expect(order({ ...base, order: {} })).toBeUndefined();
    const timed = {
      ...base,
      timeDimensions: [{ dimension: 'perk_clicks.occurred_at', granularity: 'day' }],
    };
    expect(order(timed)).toBe('order by 3 asc, 1 asc, 2 asc');
    expect(order({ ...timed, order: { 'perk_clicks.occurred_at': 'desc' } })).toBe(
      'order by 3 desc, 1 asc, 2 asc',
    );
    expect(order({ ...timed, order: { 'perk_clicks.occurred_at.day': 'desc' } })).toBe(
      'order by 3 desc, 1 asc, 2 asc',
    );
    expect(compileQuery(timed).order).toEqual([{ id: 'perk_clicks.occurred_at', desc: false }]);
  });

  it('limits, skips and counts all rows', () => {
    const compiled = compileQuery({ dimensions: ['perk_clicks.perk_id'], limit: 3, offset: 6, total: true });
    expect(compiled.text).toMatch(/limit 3\noffset 6$/);
    expect(compiled.total!.text).toMatch(/^select count\(\*\) from \(\nselect .*\n\) rows$/s);
    expect(compiled.total!.text).not.toMatch(/limit|offset|order by/);
    expect(compileQuery({ dimensions: ['perk_clicks.perk_id'] }).total).toBeUndefined();
  });

  it('does not group an ungrouped query', () => {
    const text = sql({
      measures: ['conversions.count', 'conversions.value', 'conversions.journeys'],
      dimensions: ['conversions.campaign_id'],
      ungrouped: true,
    });
    expect(text).toContain(
      'select e.campaign_id as "conversions__campaign_id", 1 as "conversions__count", e.value as "conversions__value", 1 as',
    );
    expect(text).not.toContain('group by');
  });

  it('reads each row and each journey once for all steps of a funnel', () => {
    const { text } = compileQuery({
      measures: ['journeys', 'teaser_viewers', 'gift_openers', 'gift_only_recipients', 'click_rate'].map(
        (name) => `campaign_funnel.${name}`,
      ),
    });
    expect(text.match(/bit_or\(/g)).toHaveLength(1);
    expect(text).toContain('count(g.d) filter (where g.steps & 1 <> 0)');
    expect(text).toContain('count(g.d) filter (where g.steps & 32 <> 0)');
    expect(text).toContain('count(g.d) filter (where g.steps = 16)');
    expect(text).not.toMatch(/bool_or|distinct/);
  });

  it('combines several sums in one statement, each with its own parameters', () => {
    const query = (dateRange: string) => ({
      measures: ['campaign_funnel.clickers'],
      timeDimensions: [{ dimension: 'campaign_funnel.occurred_at', dateRange }],
    });
    const { text, params } = compileTogether(
      ['2026-03-01', '2026-04-01'].map((day) => compileQuery(query(day))),
    );
    expect(text.match(/e\.account_id = \$\d|occurred_at .= \$\d/g)).toEqual(
      [1, 4].flatMap((at) => [
        `e.account_id = $${at}`,
        `occurred_at >= $${at + 1}`,
        `occurred_at <= $${at + 2}`,
      ]),
    );
    expect(params).toEqual([
      ...['acme', '2026-03-01T00:00:00.000Z', '2026-03-01T23:59:59.999Z'],
      ...['acme', '2026-04-01T00:00:00.000Z', '2026-04-01T23:59:59.999Z'],
    ]);
    // Postgres does not run a subquery with a limit in a parallel worker.
    expect(text).not.toContain('limit');
  });

  it('recognizes queries that return a single row', () => {
    const isOne = (query: object) => {
      const [normalized] = normalize({ measures: ['perk_clicks.count'], ...query }, NOW).queries;
      return isOneRow(normalized!, compile(normalized!, model, 'acme').columns);
    };
    expect(isOne({})).toBe(true);
    for (const query of [
      { dimensions: ['perk_clicks.perk_id'] },
      { timeDimensions: [{ dimension: 'perk_clicks.occurred_at', granularity: 'day' }] },
      { ungrouped: true },
      { limit: 0 },
      { offset: 1 },
    ])
      expect([query, isOne(query)]).toEqual([query, false]);
  });

  it('gives long names a short alias', () => {
    const name = `a${'b'.repeat(100)}`;
    const compiled = compile(
      normalize({ dimensions: [`conversions.cmeta_${name}`] }, NOW).queries[0]!,
      modelFor([{ name }]),
      'acme',
    );
    expect(compiled.text).toContain('as "c0"');
  });

  it.each([
    [
      { measures: ['perk_clicks.cuont'] },
      "'cuont' not found for path 'perk_clicks.cuont'; did you mean 'perk_clicks.count'?",
    ],
    [
      { dimensions: ['perk_clicks.perkId'] },
      "'perkId' not found for path 'perk_clicks.perkId'; did you mean 'perk_clicks.perk_id'?",
    ],
    [
      { dimensions: ['perk_clicks.cmeta_paln'] },
      "'cmeta_paln' not found for path 'perk_clicks.cmeta_paln'; did you mean 'perk_clicks.cmeta_plan'?",
    ],
    [
      { dimensions: ['perk_clicks.campaign'], measures: ['perk_clicks.count'] },
      "'campaign' not found for path 'perk_clicks.campaign'; did you mean 'perk_clicks.utm_campaign'?",
    ],
    // Only members that are allowed in that place.
    [
      { dimensions: ['perk_clicks.journeys'] },
      "'journeys' not found for path 'perk_clicks.journeys'; did you mean 'perk_clicks.journey_id'?",
    ],
    [
      { measures: ['clicks.count'] },
      "Cube 'clicks' not found for path 'clicks.count'; did you mean 'incentive_clicks.count', 'perk_clicks.count'?",
    ],
    [
      { measures: ['perk_click.count'] },
      "Cube 'perk_click' not found for path 'perk_click.count'; did you mean 'perk_clicks.count'?",
    ],
    [{ measures: ['perk_clicks.zebra'] }, "'zebra' not found for path 'perk_clicks.zebra'"],
    [
      { measures: [`perk_clicks.${'x'.repeat(200)}`] },
      `'${'x'.repeat(200)}' not found for path 'perk_clicks.${'x'.repeat(200)}'`,
    ],
  ])('suggests the nearest members: %j', (query, message) => {
    const model = modelFor([{ name: 'plan' }]);
    expect(() => compile(normalize(query, NOW).queries[0]!, model, 'acme')).toThrow(
      expect.objectContaining({ detail: message }),
    );
  });

  it.each([
    [{ measures: ['nothing.count'] }, "Cube 'nothing' not found for path 'nothing.count'"],
    [{ measures: ['perk_clicks.sum'] }, "'sum' not found for path 'perk_clicks.sum'"],
    [{ measures: ['perk_clicks.perk_id'] }, "'perk_id' not found for path 'perk_clicks.perk_id'"],
    [{ dimensions: ['perk_clicks.count'] }, "'count' not found for path 'perk_clicks.count'"],
    [
      { dimensions: ['perk_clicks.constructor'] },
      "'constructor' not found for path 'perk_clicks.constructor'",
    ],
    [
      { dimensions: ['perk_clicks.cmeta_other'] },
      "'cmeta_other' not found for path 'perk_clicks.cmeta_other'",
    ],
    [{ measures: ['reward_links.count_people'] }, "'count_people' not found"],
    [
      { measures: ['perk_clicks.count', 'perk_views.count'] },
      "Can't find join path to join 'perk_clicks', 'perk_views'",
    ],
    [
      { measures: ['perk_clicks.count'], segments: ['perk_clicks.vip'] },
      "'vip' not found for path 'perk_clicks.vip'",
    ],
    [
      { dimensions: ['perk_clicks.occurred_at.fortnight'] },
      'Granularity "fortnight" does not exist in dimension perk_clicks.occurred_at',
    ],
    [{ dimensions: ['perk_clicks.perk_id.day'] }, "'perk_id' is not a time dimension"],
    [
      {
        measures: ['perk_clicks.count'],
        timeDimensions: [{ dimension: 'perk_clicks.perk_id', dateRange: 'today' }],
      },
      "'perk_id' is not a time dimension",
    ],
    [
      {
        measures: ['perk_clicks.count'],
        filters: [
          {
            or: [
              { member: 'perk_clicks.count', operator: 'gt', values: ['1'] },
              { member: 'perk_clicks.perk_id', operator: 'set' },
            ],
          },
        ],
      },
      'You cannot use dimension and measure in same condition: {"or":[',
    ],
    [
      {
        measures: ['perk_clicks.count'],
        filters: [{ member: 'perk_clicks.perk_id', operator: 'beforeDate', values: ['2026-01-01'] }],
      },
      'Operator beforeDate needs a time dimension, perk_clicks.perk_id is not one',
    ],
    [
      {
        measures: ['perk_clicks.count'],
        filters: [{ member: 'perk_clicks.perk_id', operator: 'gt', values: [null] }],
      },
      'Values required for filter',
    ],
  ])('rejects %j', (query, message) => {
    expect(() => compileQuery(query)).toThrow(message);
  });
});

describe('filters', () => {
  const on = (operator: string, values?: unknown[], member = 'perk_clicks.perk_id') =>
    filtered({ member, operator, ...(values ? { values } : {}) });

  it.each<[string, unknown[] | undefined, string, unknown[]]>([
    ['equals', ['a'], '(e.perk_id = $2::text)', ['a']],
    ['equals', ['a', 'b'], '(e.perk_id = any($2::text[]))', [['a', 'b']]],
    ['in', ['a', 'b'], '(e.perk_id = any($2::text[]))', [['a', 'b']]],
    ['equals', ['a', null], '(e.perk_id = $2::text or e.perk_id is null)', ['a']],
    ['equals', [null], '(e.perk_id is null)', []],
    ['equals', [5], '(e.perk_id = $2::text)', ['5']],
    ['equals', [''], '(e.perk_id = $2::text)', ['']],
    ['notEquals', ['a'], '(e.perk_id <> $2::text or e.perk_id is null)', ['a']],
    ['notIn', ['a', 'b'], '(e.perk_id <> all($2::text[]) or e.perk_id is null)', [['a', 'b']]],
    ['notEquals', ['a', null], '(e.perk_id <> $2::text and e.perk_id is not null)', ['a']],
    ['notEquals', [null], '(e.perk_id is not null)', []],
    ['contains', ['a'], '(e.perk_id ilike any($2::text[]))', [['%a%']]],
    [
      'contains',
      ['50%', 'a_b', 'c\\d'],
      '(e.perk_id ilike any($2::text[]))',
      [['%50\\%%', '%a\\_b%', '%c\\\\d%']],
    ],
    ['startsWith', ['a'], '(e.perk_id ilike any($2::text[]))', [['a%']]],
    ['endsWith', ['a', 'b'], '(e.perk_id ilike any($2::text[]))', [['%a', '%b']]],
    [
      'notContains',
      ['a', 'b'],
      '(e.perk_id not ilike all($2::text[]) or e.perk_id is null)',
      [['%a%', '%b%']],
    ],
    ['notStartsWith', ['a'], '(e.perk_id not ilike all($2::text[]) or e.perk_id is null)', [['a%']]],
    ['notEndsWith', ['a'], '(e.perk_id not ilike all($2::text[]) or e.perk_id is null)', [['%a']]],
    ['gt', ['a', 'b'], '(e.perk_id > $2::text)', ['a']],
    ['gte', ['a'], '(e.perk_id >= $2::text)', ['a']],
    ['lt', ['a'], '(e.perk_id < $2::text)', ['a']],
    ['lte', ['a'], '(e.perk_id <= $2::text)', ['a']],
    ['set', undefined, '(e.perk_id is not null)', []],
    ['notSet', undefined, '(e.perk_id is null)', []],
  ])('%s %j on a string', (operator, values, expected, params) => {
    const compiled = on(operator, values);
    expect(compiled.where).toBe(`${expected}`);
    expect(compiled.params).toEqual(params);
  });

  it.each<[string, string[], string, string[]]>([
    [
      'inDateRange',
      ['2026-01-01', '2026-01-02'],
      '(e.occurred_at >= $2::timestamptz and e.occurred_at <= $3::timestamptz)',
      ['2026-01-01T00:00:00.000Z', '2026-01-02T23:59:59.999Z'],
    ],
    [
      'onTheDate',
      ['2026-01-01'],
      '(e.occurred_at >= $2::timestamptz and e.occurred_at <= $3::timestamptz)',
      ['2026-01-01T00:00:00.000Z', '2026-01-01T23:59:59.999Z'],
    ],
    [
      'notInDateRange',
      ['today'],
      '(e.occurred_at < $2::timestamptz or e.occurred_at > $3::timestamptz or e.occurred_at is null)',
      ['2026-03-18T00:00:00.000Z', '2026-03-18T23:59:59.999Z'],
    ],
    ['beforeDate', ['2026-01-01'], '(e.occurred_at < $2::timestamptz)', ['2026-01-01T00:00:00.000Z']],
    ['beforeOrOnDate', ['2026-01-01'], '(e.occurred_at <= $2::timestamptz)', ['2026-01-01T00:00:00.000Z']],
    ['afterDate', ['2026-01-01T10:00'], '(e.occurred_at > $2::timestamptz)', ['2026-01-01T10:00:00.000Z']],
    ['afterOrOnDate', ['2026-01-01'], '(e.occurred_at >= $2::timestamptz)', ['2026-01-01T00:00:00.000Z']],
    [
      'equals',
      ['2026-01-01T10:00:00.123'],
      '(e.occurred_at = $2::timestamptz)',
      ['2026-01-01T10:00:00.123Z'],
    ],
  ])('%s %j on a time', (operator, values, expected, params) => {
    const compiled = on(operator, values, 'perk_clicks.occurred_at');
    expect(compiled).toEqual({ where: expected, params });
  });

  it('on measures filter groups', () => {
    const { text, params } = compileQuery({
      measures: ['conversions.value'],
      dimensions: ['conversions.campaign_id'],
      filters: [
        { member: 'conversions.count', operator: 'gte', values: [5] },
        {
          or: [
            { member: 'conversions.value', operator: 'set' },
            { member: 'conversions.value', operator: 'equals', values: ['1', '2'] },
          ],
        },
        { member: 'conversions.currency', operator: 'equals', values: ['EUR'] },
      ],
    });
    expect(text).toContain('and (e.currency = $2::text)\ngroup by 1\nhaving (count(*) >= $3::numeric)');
    expect(text).toContain('and ((sum(e.value) is not null) or (sum(e.value) = any($4::numeric[])))');
    expect(params).toEqual(['acme', 'EUR', '5', ['1', '2']]);
  });

  it('nest', () => {
    const is = (value: string) => ({ member: 'perk_clicks.perk_id', operator: 'equals', values: [value] });
    expect(
      where({
        measures: ['perk_clicks.count'],
        filters: [{ or: [is('a'), { and: [is('b'), { or: [is('c'), is('d')] }] }] }, is('e')],
      }),
    ).toContain(
      '((e.perk_id = $2::text) or ((e.perk_id = $3::text) and ((e.perk_id = $4::text) or (e.perk_id = $5::text)))) and (e.perk_id = $6::text)',
    );
  });

  it('measureFilter selects the rows that a measure counts', () => {
    const of = (measure: string) => filtered({ member: measure, operator: 'measureFilter' }).where;
    expect(of('perk_clicks.count_people')).toBe("(e.traffic_class is null or e.traffic_class = 'human')");
    expect(of('perk_clicks.count')).toBe('true');
    const measure = 'campaign_funnel.gift_only_recipients';
    expect(() =>
      compileQuery({ measures: [measure], filters: [{ member: measure, operator: 'measureFilter' }] }),
    ).toThrow('measureFilter cannot select its rows');
  });
});

describe('safety', () => {
  const members = CUBES.flatMap((cube) => [
    ...Object.keys(cube.dimensions).map((name) => `${cube.name}.${name}`),
    ...Object.keys(cube.measures).map((name) => `${cube.name}.${name}`),
  ]);

  it('keeps caller input out of the SQL text', () => {
    const evil = fc.constantFrom(
      "'; drop table tracking_events; --",
      "x' or '1'='1",
      '$1',
      '"',
      '\\',
      'evil-marker',
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...members),
        fc.constantFrom(...OPERATORS),
        fc.array(evil, { minLength: 1, maxLength: 3 }),
        (member, operator, values) => {
          let compiled;
          try {
            compiled = compileQuery({
              measures: [`${member.split('.')[0]}.count`],
              filters: [{ member, operator, values }],
            });
          } catch {
            return; // rejecting is fine, too
          }
          for (const value of values) if (value.length > 2) expect(compiled.text).not.toContain(value);
          expect(compiled.text).toContain('e.account_id = $1');
          expect(compiled.params[0]).toBe('acme');
          const used = new Set([...compiled.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
          expect(used.size).toBe(compiled.params.length);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('compiles every member with every granularity', () => {
    for (const cube of CUBES) {
      for (const granularity of model.granularities.keys())
        expect(() => compileQuery({ dimensions: [`${cube.name}.occurred_at.${granularity}`] })).not.toThrow();
      expect(() =>
        compileQuery({
          measures: Object.keys(cube.measures).map((name) => `${cube.name}.${name}`),
          dimensions: Object.keys(cube.dimensions).map((name) => `${cube.name}.${name}`),
        }),
      ).not.toThrow();
    }
  });
});
