import pg from 'pg';
import { compile } from '../src/query/compile.js';
import { CUBES } from '../src/model/cubes.js';
import { modelFor } from '../src/model/model.js';
import { normalize } from '../src/query/normalize.js';
import { OPERATORS } from '../src/query/query.js';
import { waitFor } from '@perkway/testing';
import { anAccountId, analyticsStack, click, event, type Analytics, type Stack } from './support.js';

let stack: Stack;
let analytics: Analytics;
const account = anAccountId();
const other = anAccountId();
const at = (text: string): number => Date.parse(text);

beforeAll(async () => {
  stack = await analyticsStack();
  analytics = stack.as(account);
  const traffic = { class: 'bot', reason: 'user-agent:bot' } as const;
  await stack.publisher.events(
    event({ type: 'perk_named', account: '', perk: 'coffee', title: 'Free coffee', partner: 'roasters' }),
    event({ type: 'perk_named', account: '', perk: 'gym', title: 'Gym 50% off', partner: 'gyms' }),
    // Three reads that show 2, 1 and 0 perks; the second names its perk twice.
    event({
      type: 'perk_view',
      account,
      collection: 'main',
      perks: ['coffee', 'gym'],
      at: at('2026-03-01T10:00:00Z'),
      utm: { utm_source: 'mail' },
    }),
    event({
      type: 'perk_view',
      account,
      collection: 'main',
      perks: ['coffee', 'coffee'],
      at: at('2026-03-02T10:00:00Z'),
    }),
    event({ type: 'perk_view', account, collection: 'main', perks: [], at: at('2026-03-02T11:00:00Z') }),
    event({
      type: 'perk_view',
      account: other,
      collection: 'main',
      perks: ['coffee'],
      at: at('2026-03-02T10:00:00Z'),
    }),
    click(account, {
      perk: 'coffee',
      at: at('2026-03-01T10:00:00.000Z'),
      cmeta: { 'user-id': 'u1', plan: 'gold' },
    }),
    click(account, {
      perk: 'coffee',
      at: at('2026-03-01T22:30:00.123Z'),
      cmeta: { user_id: 'u2' },
      traffic: { class: 'human', reason: 'default' },
    }),
    click(account, {
      perk: 'gym',
      at: at('2026-03-03T23:59:59.999Z'),
      traffic,
      utm: { utm_source: '50%_off' },
    }),
    click(account, {
      perk: 'null',
      at: at('2026-03-08T00:00:00.000Z'),
      journey: 'j1',
      cmeta: { ['__proto__']: 'x' },
    }),
    click(other, { perk: 'coffee', at: at('2026-03-01T10:00:00Z'), cmeta: { secret: 'theirs' } }),
    event({
      type: 'conversion',
      account,
      campaign: 'spring',
      journey: 'j1',
      perk: 'coffee',
      value: 10.25,
      currency: 'EUR',
      externalId: 'o-1',
    }),
    event({ type: 'conversion', account, campaign: 'spring', journey: 'j2', value: 5.25, currency: 'EUR' }),
    event({ type: 'conversion', account, campaign: 'autumn', journey: 'j1' }),
    event({
      type: 'reward_link',
      account,
      state: 'generated',
      pool: 'p',
      denomination: 10,
      currency: 'EUR',
      createdBy: 'ann',
    }),
    event({
      type: 'reward_link',
      account,
      state: 'generated',
      pool: 'p',
      denomination: 12.5,
      currency: 'EUR',
      createdBy: 'ann',
    }),
    event({
      type: 'reward_link',
      account,
      state: 'revealed',
      pool: 'p',
      denomination: 10,
      currency: 'EUR',
      createdBy: 'ann',
    }),
    event({ type: 'campaign_named', account, campaign: 'spring', name: 'Spring sale' }),
    ...(['generated', 'cancelled', 'generated', 'expired', 'generated'] as const).map((state, index) =>
      event({
        type: 'reward_link',
        account,
        state,
        pool: 'q',
        denomination: 50,
        currency: 'EUR',
        createdBy: 'bob',
        campaign: 'spring',
        journey: `gift-${index >> 1}`,
        reference: `order-${index >> 1}`,
        utm: { utm_source: 'crm' },
        cmeta: { plan: 'gold' },
      }),
    ),
    ...(['outreach', 'journey', 'outreach'] as const).map((channel) =>
      event({
        type: 'teaser_view',
        account,
        campaign: 'spring',
        journey: 'j1',
        channel,
        at: at('2026-03-01T10:00:00Z'),
      }),
    ),
  );
  await waitFor(async () => expect(await analytics.count('teaser_views.count')).toBe(3), '3 events');
});
afterAll(() => stack.close());

const rows = async (query: object) => {
  const { status, body } = await analytics.load(query);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data;
};
const perks = async (...filters: object[]) =>
  (await rows({ dimensions: ['perk_clicks.perk_id'], filters })).map((row) => row['perk_clicks.perk_id']);
const on = (member: string, operator: string, ...values: unknown[]) => ({
  member: `perk_clicks.${member}`,
  operator,
  ...(values.length > 0 ? { values } : {}),
});

describe('/v1/load', () => {
  it('responds like the Cube gateway', async () => {
    const { status, headers, body } = await analytics.load({
      measures: ['perk_clicks.count'],
      dimensions: ['perk_clicks.perk_title'],
      timeDimensions: [
        { dimension: 'perk_clicks.occurred_at', granularity: 'day', dateRange: ['2026-03-01', '2026-03-01'] },
      ],
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('application/json');
    const time = {
      title: 'Perk Clicks Occurred At',
      shortTitle: 'Occurred At',
      description: 'When it happened',
      type: 'time',
    };
    const drillMembers = ['occurred_at', 'perk_title', 'collection_id', 'journey_id', 'utm_source'].map(
      (name) => `perk_clicks.${name}`,
    );
    expect(body).toEqual({
      query: {
        measures: ['perk_clicks.count'],
        dimensions: ['perk_clicks.perk_title'],
        timeDimensions: [
          {
            dimension: 'perk_clicks.occurred_at',
            granularity: 'day',
            dateRange: ['2026-03-01T00:00:00.000', '2026-03-01T23:59:59.999'],
          },
        ],
        filters: [],
        limit: 10_000,
        rowLimit: 10_000,
        timezone: 'UTC',
      },
      lastRefreshTime: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
      annotation: {
        measures: {
          'perk_clicks.count': {
            title: 'Perk Clicks Count',
            shortTitle: 'Count',
            description: 'Total, including bots, prefetches and mail proxies',
            type: 'number',
            drillMembers,
            drillMembersGrouped: { measures: [], dimensions: drillMembers },
          },
        },
        dimensions: {
          'perk_clicks.perk_title': {
            title: 'Perk Clicks Perk Title',
            shortTitle: 'Perk Title',
            description: 'Current title',
            type: 'string',
          },
        },
        segments: {},
        timeDimensions: {
          'perk_clicks.occurred_at.day': {
            ...time,
            granularity: { name: 'day', title: 'day', interval: '1 day' },
          },
          'perk_clicks.occurred_at': time,
        },
      },
      dataSource: 'default',
      dbType: 'postgres',
      external: false,
      slowQuery: false,
      data: [
        {
          'perk_clicks.perk_title': 'Free coffee',
          'perk_clicks.occurred_at.day': '2026-03-01T00:00:00.000',
          'perk_clicks.occurred_at': '2026-03-01T00:00:00.000',
          'perk_clicks.count': '2',
        },
      ],
    });
  });

  it('accepts POST with an object or a string, and responds with 200', async () => {
    const query = { measures: ['perk_clicks.count'] };
    for (const body of [{ query }, { query: JSON.stringify(query) }, { query, cache: 'no-cache', foo: 1 }]) {
      const response = await analytics.post('/cubejs-api/v1/load', body);
      expect([response.status, response.body.data]).toEqual([200, [{ 'perk_clicks.count': '4' }]]);
    }
  });

  it('wraps the result for a client that accepts several', async () => {
    const query = { measures: ['perk_clicks.count'] };
    const { body } = await analytics.load(query, 'multi');
    const single = (await analytics.load(query)).body;
    expect(body).toEqual({
      queryType: 'regularQuery',
      results: [{ ...single, lastRefreshTime: expect.any(String) }],
      pivotQuery: { ...single.query, queryType: 'regularQuery' },
      slowQuery: false,
    });
    const posted = await analytics.post('/cubejs-api/v1/load', { query, queryType: 'multi' });
    expect(posted.body.results[0].data).toEqual(single.data);
  });

  it('compares ranges', async () => {
    const query = {
      measures: ['perk_clicks.count'],
      timeDimensions: [
        {
          dimension: 'perk_clicks.occurred_at',
          compareDateRange: [
            ['2026-03-01', '2026-03-01'],
            ['2026-03-03', '2026-03-03'],
          ],
        },
      ],
    };
    const { body } = await analytics.load(query, 'multi');
    expect(body.queryType).toBe('compareDateRangeQuery');
    expect(body.pivotQuery).toMatchObject({
      dimensions: ['compareDateRange'],
      queryType: 'compareDateRangeQuery',
    });
    expect(body.results.map((result: { data: unknown }) => result.data)).toEqual([
      [{ 'perk_clicks.count': '2', compareDateRange: '2026-03-01T00:00:00.000 - 2026-03-01T23:59:59.999' }],
      [{ 'perk_clicks.count': '1', compareDateRange: '2026-03-03T00:00:00.000 - 2026-03-03T23:59:59.999' }],
    ]);
    const refused = await analytics.load(query);
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        error: "'compareDateRangeQuery' query type is not supported by the client.Please update the client.",
      },
    ]);
  });

  it('blends queries of several cubes', async () => {
    const of = (cube: string) => ({
      measures: [`${cube}.count`],
      timeDimensions: [
        { dimension: `${cube}.occurred_at`, granularity: 'day', dateRange: ['2026-03-01', '2026-03-01'] },
      ],
    });
    const { body } = await analytics.load([of('perk_clicks'), of('perk_views')], 'multi');
    expect(body.queryType).toBe('blendingQuery');
    expect(body.pivotQuery).toEqual({
      measures: ['perk_clicks.count', 'perk_views.count'],
      dimensions: [],
      timeDimensions: [{ dimension: 'time', granularity: 'day' }],
      queryType: 'blendingQuery',
    });
    expect(body.results.map((result: { data: unknown[] }) => result.data[0])).toEqual(
      ['perk_clicks', 'perk_views'].map((cube) =>
        expect.objectContaining({ [`${cube}.count`]: '2', 'time.day': '2026-03-01T00:00:00.000' }),
      ),
    );
  });

  it('counts a view per perk of a read', async () => {
    expect(await analytics.count('perk_views.count')).toBe(3);
    expect(await rows({ measures: ['perk_views.count'], dimensions: ['perk_views.perk_title'] })).toEqual([
      { 'perk_views.perk_title': 'Free coffee', 'perk_views.count': '2' },
      { 'perk_views.perk_title': 'Gym 50% off', 'perk_views.count': '1' },
    ]);
    expect(
      await rows({
        measures: ['perk_views.count'],
        filters: [{ member: 'perk_views.perk_id', operator: 'equals', values: ['coffee'] }],
      }),
    ).toEqual([{ 'perk_views.count': '2' }]);
    expect(await rows({ measures: ['perk_views.count'], dimensions: ['perk_views.utm_source'] })).toEqual([
      { 'perk_views.utm_source': 'mail', 'perk_views.count': '2' },
      { 'perk_views.utm_source': null, 'perk_views.count': '1' },
    ]);
  });

  it('writes values like the Cube API', async () => {
    expect(
      await rows({
        measures: [
          'conversions.count',
          'conversions.count_people',
          'conversions.journeys',
          'conversions.value',
        ],
      }),
    ).toEqual([
      {
        'conversions.count': '3',
        'conversions.count_people': '3',
        'conversions.journeys': '2',
        'conversions.value': '15.50',
      },
    ]);
    const nobody = stack.as(anAccountId());
    expect(
      (
        await nobody.load({
          measures: ['conversions.count', 'conversions.value', 'perk_views.count'].slice(0, 2),
        })
      ).body.data,
    ).toEqual([{ 'conversions.count': '0', 'conversions.value': null }]);
    expect(await nobody.count('perk_views.count')).toBe(0);
    expect(
      await rows({
        measures: ['reward_links.count'],
        dimensions: ['reward_links.state', 'reward_links.denomination', 'reward_links.created_by'],
        filters: [{ member: 'reward_links.created_by', operator: 'equals', values: ['ann'] }],
        order: { 'reward_links.denomination': 'asc', 'reward_links.state': 'asc' },
      }),
    ).toEqual([
      {
        'reward_links.state': 'generated',
        'reward_links.denomination': '10',
        'reward_links.created_by': 'ann',
        'reward_links.count': '1',
      },
      {
        'reward_links.state': 'revealed',
        'reward_links.denomination': '10',
        'reward_links.created_by': 'ann',
        'reward_links.count': '1',
      },
      {
        'reward_links.state': 'generated',
        'reward_links.denomination': '12.5',
        'reward_links.created_by': 'ann',
        'reward_links.count': '1',
      },
    ]);
    const ofBob = { member: 'reward_links.created_by', operator: 'equals', values: ['bob'] };
    expect(
      await rows({
        measures: ['reward_links.count', 'reward_links.journeys'],
        dimensions: ['state', 'campaign_id', 'campaign_name', 'utm_source', 'cmeta_plan'].map(
          (name) => `reward_links.${name}`,
        ),
        filters: [ofBob],
        order: { 'reward_links.state': 'asc' },
      }),
    ).toEqual(
      [
        ['cancelled', '1', '1'],
        ['expired', '1', '1'],
        ['generated', '3', '3'],
      ].map(([state, count, journeys]) => ({
        'reward_links.state': state,
        'reward_links.campaign_id': 'spring',
        'reward_links.campaign_name': 'Spring sale',
        'reward_links.utm_source': 'crm',
        'reward_links.cmeta_plan': 'gold',
        'reward_links.count': count,
        'reward_links.journeys': journeys,
      })),
    );
    expect(
      await rows({
        measures: ['reward_links.journeys'],
        dimensions: ['reward_links.reference', 'reward_links.journey_id'],
        filters: [ofBob, { member: 'reward_links.denomination', operator: 'gt', values: ['49'] }],
        order: { 'reward_links.reference': 'asc' },
      }),
    ).toEqual(
      [0, 1, 2].map((index) => ({
        'reward_links.reference': `order-${index}`,
        'reward_links.journey_id': `gift-${index}`,
        'reward_links.journeys': '1',
      })),
    );
    expect(
      await rows({
        measures: ['conversions.count', 'conversions.value'],
        ungrouped: true,
        order: { 'conversions.value': 'asc' },
        limit: 1,
      }),
    ).toEqual([{ 'conversions.count': 1, 'conversions.value': '5.25' }]);
  });

  it('distinguishes people from bots, and channels', async () => {
    expect(
      await rows({ measures: ['perk_clicks.count', 'perk_clicks.count_people', 'perk_clicks.journeys'] }),
    ).toEqual([{ 'perk_clicks.count': '4', 'perk_clicks.count_people': '3', 'perk_clicks.journeys': '1' }]);
    expect(await rows({ dimensions: ['perk_clicks.traffic_class', 'perk_clicks.traffic_reason'] })).toEqual([
      { 'perk_clicks.traffic_class': 'bot', 'perk_clicks.traffic_reason': 'user-agent:bot' },
      { 'perk_clicks.traffic_class': 'human', 'perk_clicks.traffic_reason': 'default' },
      { 'perk_clicks.traffic_class': null, 'perk_clicks.traffic_reason': null },
    ]);
    expect(await rows({ measures: ['teaser_views.count'], dimensions: ['teaser_views.channel'] })).toEqual([
      { 'teaser_views.channel': 'outreach', 'teaser_views.count': '2' },
      { 'teaser_views.channel': 'journey', 'teaser_views.count': '1' },
    ]);
  });

  it("groups time in the query's time zone", async () => {
    const days = async (timezone: string, granularity = 'day') =>
      (
        await rows({
          measures: ['perk_clicks.count'],
          timeDimensions: [
            { dimension: 'perk_clicks.occurred_at', granularity, dateRange: ['2026-03-01', '2026-03-09'] },
          ],
          timezone,
        })
      ).map((row) => [row['perk_clicks.occurred_at'], row['perk_clicks.count']]);
    expect(await days('UTC')).toEqual([
      ['2026-03-01T00:00:00.000', '2'],
      ['2026-03-03T00:00:00.000', '1'],
      ['2026-03-08T00:00:00.000', '1'],
    ]);
    expect(await days('Asia/Tokyo')).toEqual([
      ['2026-03-01T00:00:00.000', '1'],
      ['2026-03-02T00:00:00.000', '1'],
      ['2026-03-04T00:00:00.000', '1'],
      ['2026-03-08T00:00:00.000', '1'],
    ]);
    expect(await days('UTC', 'week')).toEqual([
      ['2026-02-23T00:00:00.000', '2'],
      ['2026-03-02T00:00:00.000', '2'],
    ]);
    expect(await days('UTC', 'second')).toContainEqual(['2026-03-01T22:30:00.000', '1']);
    expect(await days('UTC', 'quarter')).toEqual([['2026-01-01T00:00:00.000', '4']]);
    expect(
      await rows({
        dimensions: ['perk_clicks.occurred_at'],
        filters: [on('perk_id', 'equals', 'coffee')],
        timezone: 'Europe/Berlin',
      }),
    ).toEqual([
      { 'perk_clicks.occurred_at': '2026-03-01T11:00:00.000' },
      { 'perk_clicks.occurred_at': '2026-03-01T23:30:00.123' },
    ]);
  });

  it('includes both ends of a range, to the millisecond', async () => {
    const count = async (from: string, to: string) =>
      Number(
        (
          await rows({
            measures: ['perk_clicks.count'],
            timeDimensions: [{ dimension: 'perk_clicks.occurred_at', dateRange: [from, to] }],
          })
        )[0]!['perk_clicks.count'],
      );
    expect(await count('2026-03-03', '2026-03-03')).toBe(1);
    expect(await count('2026-03-03T23:59:59.999', '2026-03-08T00:00:00.000')).toBe(2);
    expect(await count('2026-03-04T00:00:00.000', '2026-03-07T23:59:59.999')).toBe(0);
    expect(await count('2026-03-01T22:30:00.123', '2026-03-01T22:30:00.123')).toBe(1);
    expect(await count('2026-03-08', '2026-03-01')).toBe(0);
  });

  it('filters', async () => {
    expect(await perks(on('perk_id', 'equals', 'coffee', 'gym'))).toEqual(['coffee', 'gym']);
    expect(await perks(on('perk_id', 'equals', 'null'))).toEqual(['null']);
    expect(await perks(on('perk_id', 'notEquals', 'gym'))).toEqual(['coffee', 'null']);
    expect(await perks(on('perk_title', 'contains', '50% O'))).toEqual(['gym']);
    expect(await perks(on('perk_title', 'contains', 'f_ee'))).toEqual([]);
    expect(await perks(on('perk_title', 'notContains', 'coffee'))).toEqual(['gym', 'null']);
    expect(await perks(on('perk_title', 'startsWith', 'free', 'nothing'))).toEqual(['coffee']);
    expect(await perks(on('perk_title', 'notSet'))).toEqual(['null']);
    expect(await perks(on('utm_source', 'equals', '50%_off'))).toEqual(['gym']);
    expect(await perks(on('utm_source', 'equals', '50%_off', null))).toEqual(['coffee', 'gym', 'null']);
    expect(await perks(on('occurred_at', 'afterDate', '2026-03-03'))).toEqual(['gym', 'null']);
    expect(await perks(on('occurred_at', 'notInDateRange', '2026-03-01', '2026-03-03'))).toEqual(['null']);
    expect(
      await perks({
        or: [
          on('perk_id', 'equals', 'gym'),
          { and: [on('cmeta_plan', 'equals', 'gold'), on('perk_id', 'set')] },
        ],
      }),
    ).toEqual(['coffee', 'gym']);
    expect(await perks(on('count', 'gte', 2))).toEqual(['coffee']);
    expect(await perks({ or: [on('count', 'gt', 5), on('count_people', 'equals', '0')] })).toEqual(['gym']);
    expect(await perks(on('count_people', 'measureFilter'))).toEqual(['coffee', 'null']);
  });

  it("responds with 400 and the database's message if a value does not fit", async () => {
    const { status, body } = await analytics.load({
      measures: ['reward_links.count'],
      filters: [{ member: 'reward_links.denomination', operator: 'gt', values: ['abc'] }],
    });
    expect([status, body]).toEqual([400, { error: 'Error: invalid input syntax for type numeric: "abc"' }]);
    // The connection is still usable.
    expect(await analytics.count('perk_clicks.count')).toBe(4);
  });

  it('accepts a thousand filters and rejects more, however they are nested', async () => {
    const filters = Array.from({ length: 1_000 }, (_, i) => on('perk_id', 'notEquals', `p${i}`));
    const load = (...given: object[]) => {
      const query = { measures: ['perk_clicks.count'], filters: given };
      return analytics.post('/cubejs-api/v1/load', JSON.stringify({ query }));
    };
    const { body } = await load({ or: filters.slice(1) }, on('perk_id', 'equals', 'coffee'));
    expect(body.data).toEqual([{ 'perk_clicks.count': '2' }]);
    for (const groups of [1, 6]) {
      const nested = Array.from({ length: groups }, () => ({ and: filters }));
      const refused = await load(on('perk_id', 'set'), { or: nested });
      expect([refused.status, refused.body]).toEqual([
        400,
        { error: 'Invalid query format: "filters" must contain less than or equal to 1000 filters in all' },
      ]);
    }
  });

  it('runs every operator on every kind of member', async () => {
    for (const member of [
      'perk_clicks.perk_title',
      'perk_clicks.occurred_at',
      'perk_clicks.count',
      'reward_links.denomination',
      'conversions.value',
      'perk_clicks.cmeta',
    ])
      for (const operator of OPERATORS) {
        const { status, body } = await analytics.load({
          measures: [`${member.split('.')[0]}.count`],
          filters: [{ member, operator, values: ['2026-01-01'] }],
        });
        expect([200, 400]).toContain(status);
        expect(JSON.stringify(body)).not.toContain('Something went wrong');
      }
  });

  it('pages, counts all rows, and returns no rows for limit 0', async () => {
    const query = { dimensions: ['perk_clicks.perk_id'], total: true };
    const page = async (more: object) => {
      const { body } = await analytics.load({ ...query, ...more });
      return [body.total, body.data.map((row) => row['perk_clicks.perk_id'])];
    };
    expect(await page({})).toEqual([3, ['coffee', 'gym', 'null']]);
    expect(await page({ limit: 2 })).toEqual([3, ['coffee', 'gym']]);
    expect(await page({ limit: 2, offset: 2 })).toEqual([3, ['null']]);
    expect(await page({ limit: 0 })).toEqual([3, []]);
    expect(await page({ offset: 100 })).toEqual([3, []]);
  });

  it('writes compact and columnar responses', async () => {
    const query = { measures: ['perk_clicks.count'], dimensions: ['perk_clicks.perk_id'], limit: 2 };
    const compact = (await analytics.load({ ...query, responseFormat: 'compact' })).body;
    expect(compact.data).toEqual({
      members: ['perk_clicks.perk_id', 'perk_clicks.count'],
      dataset: [
        ['coffee', '2'],
        ['gym', '1'],
      ],
    });
    expect(compact.query.responseFormat).toBe('compact');
    const columnar = (await analytics.load({ ...query, responseFormat: 'columnar' })).body;
    expect(columnar.data).toEqual({
      members: ['perk_clicks.perk_id', 'perk_clicks.count'],
      columns: [
        ['coffee', 'gym'],
        ['2', '1'],
      ],
    });
    const empty = (await analytics.load({ ...query, limit: 0, responseFormat: 'columnar' })).body;
    expect(empty.data).toEqual({ members: [], columns: [] });
  });

  it.each([
    ['', 'Query param is required'],
    ['?query=', 'Query param is required'],
    ['?query={', 'Unable to decode query param as JSON, error: '],
    ['?query={"measures":["perk_clicks.count"],"foo":1}', 'Invalid query format: "foo" is not allowed'],
    ['?query={"measures":["a.b"]}', "Cube 'a' not found for path 'a.b'"],
  ])('rejects GET %s', async (search, error) => {
    const response = await analytics.get(`/cubejs-api/v1/load${search}`);
    expect([response.status, response.body]).toEqual([400, { error: expect.stringContaining(error) }]);
  });

  it.each([
    ['{}', 'Query param is required'],
    ['[]', 'Query param is required'],
    ['{"query":"{"}', 'Unable to decode query param as JSON, error: '],
    ['not json', 'The body is not valid JSON'],
    ['{"query":{"measures":"perk_clicks.count"}}', 'Invalid query format: "measures" must be an array'],
  ])('rejects POST %s', async (body, error) => {
    const response = await analytics.post('/cubejs-api/v1/load', body);
    expect([response.status, response.body]).toEqual([400, { error: expect.stringContaining(error) }]);
  });
});

describe('/v1/sql and /v1/dry-run', () => {
  const query = {
    measures: ['perk_clicks.count'],
    timeDimensions: [
      { dimension: 'perk_clicks.occurred_at', granularity: 'day', dateRange: ['2026-03-01', '2026-03-01'] },
    ],
  };
  const describing = (path: string, input: unknown) =>
    analytics.get(`/cubejs-api/v1/${path}?query=${encodeURIComponent(JSON.stringify(input))}`);

  it('return the statement that load runs, restricted to the account', async () => {
    const { status, body } = await describing('sql', query);
    expect(status).toBe(200);
    expect(body).toEqual({
      sql: {
        sql: [
          expect.stringMatching(/^select date_trunc.*from tracking_events e\nwhere e.account_id = \$1/s),
          [account, '2026-03-01T00:00:00.000Z', '2026-03-01T23:59:59.999Z'],
        ],
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
        canUseTransformedQuery: expect.objectContaining({
          measures: ['perk_clicks.count'],
          isAdditive: true,
        }),
        memberNames: ['perk_clicks.count', 'perk_clicks.occurred_at'],
      },
      dataSource: 'default',
    });
    const posted = await analytics.post('/cubejs-api/v1/sql', { query });
    expect([posted.status, posted.body]).toEqual([200, body]);
    expect((await describing('sql', [query, query])).body).toEqual([body, body]);
  });

  it('return the normalized query without running it', async () => {
    const { status, body } = await describing('dry-run', query);
    const loaded = (await analytics.load(query)).body;
    expect(status).toBe(200);
    expect(body).toEqual({
      queryType: 'regularQuery',
      normalizedQueries: [loaded.query],
      queryOrder: [{ 'perk_clicks.occurred_at': 'asc' }],
      transformedQueries: [
        expect.objectContaining({ sortedTimeDimensions: [['perk_clicks.occurred_at', 'day']] }),
      ],
      pivotQuery: { ...loaded.query, queryType: 'regularQuery' },
    });
    const posted = await analytics.post('/cubejs-api/v1/dry-run', { query });
    expect([posted.status, posted.body]).toEqual([200, body]);
    const compared = await describing('dry-run', {
      measures: ['perk_clicks.journeys'],
      timeDimensions: [{ dimension: 'perk_clicks.occurred_at', compareDateRange: ['today', 'yesterday'] }],
    });
    expect(compared.body.queryType).toBe('compareDateRangeQuery');
    expect(compared.body.normalizedQueries).toHaveLength(2);
    expect(compared.body.transformedQueries[0].isAdditive).toBe(false);
  });

  it('reject what load rejects', async () => {
    for (const path of ['sql', 'dry-run', 'subscribe']) {
      const { status, body } = await describing(path, { measures: ['perk_clicks.nothing'] });
      expect([status, body]).toEqual([400, { error: "'nothing' not found for path 'perk_clicks.nothing'" }]);
    }
  });

  it('subscribe responds like load', async () => {
    const { body } = await describing('subscribe', query);
    expect(body.data).toEqual((await analytics.load(query)).body.data);
    expect((await analytics.post('/cubejs-api/v1/subscribe', { query })).body.data).toEqual(body.data);
  });
});

describe('/v1/meta', () => {
  it('lists the attributes that the account has used, and no others', async () => {
    const { status, body } = await analytics.get('/cubejs-api/v1/meta');
    expect(status).toBe(200);
    const cubes = body.cubes as { name: string; dimensions: { name: string }[]; measures: unknown[] }[];
    expect(cubes.map(({ name }) => name)).toEqual(CUBES.map(({ name }) => name));
    const attributes = (name: string) =>
      cubes
        .find((cube) => cube.name === name)!
        .dimensions.map((dimension) => dimension.name.split('.')[1]!)
        .filter((dimension) => dimension.startsWith('cmeta_'))
        .sort();
    expect(attributes('perk_clicks')).toEqual(['cmeta___proto__', 'cmeta_plan', 'cmeta_user_id']);
    expect(attributes('teaser_views')).toEqual(['cmeta___proto__', 'cmeta_plan', 'cmeta_user_id']);
    expect(attributes('reward_links')).toEqual(['cmeta___proto__', 'cmeta_plan', 'cmeta_user_id']);
    const drillMembers = ['occurred_at', 'perk_title', 'collection_id', 'utm_source'].map(
      (name) => `perk_views.${name}`,
    );
    expect(cubes[0]!.measures).toEqual([
      {
        name: 'perk_views.count',
        title: 'Perk Views Count',
        shortTitle: 'Count',
        description: 'Total, including bots, prefetches and mail proxies',
        type: 'number',
        formatDescription: { name: 'number', specifier: ',.2f' },
        cumulativeTotal: false,
        cumulative: false,
        aggType: 'count',
        drillMembers,
        drillMembersGrouped: { measures: [], dimensions: drillMembers },
        isVisible: true,
        public: true,
      },
      expect.objectContaining({ name: 'perk_views.count_people', aggType: 'count', drillMembers }),
    ]);
    expect(JSON.stringify((await stack.as(other).get('/cubejs-api/v1/meta')).body)).toContain('cmeta_secret');
    expect((await analytics.get('/cubejs-api/v1/meta?onlyViews=true')).body).toEqual({ cubes: [] });
  });

  it('has dimensions that read every name folded onto them', async () => {
    expect(
      await rows({
        dimensions: ['perk_clicks.cmeta_user_id', 'perk_clicks.cmeta_plan'],
        filters: [on('cmeta_user_id', 'set')],
      }),
    ).toEqual([
      { 'perk_clicks.cmeta_user_id': 'u1', 'perk_clicks.cmeta_plan': 'gold' },
      { 'perk_clicks.cmeta_user_id': 'u2', 'perk_clicks.cmeta_plan': null },
    ]);
    const texts = (await rows({ dimensions: ['perk_clicks.cmeta'], filters: [on('cmeta', 'set')] })).map(
      (row) => JSON.parse(row['perk_clicks.cmeta'] as string),
    );
    expect(texts).toEqual(expect.arrayContaining([{ 'user-id': 'u1', plan: 'gold' }, { user_id: 'u2' }]));
    expect(
      await rows({ dimensions: ['perk_clicks.cmeta___proto__'], filters: [on('cmeta___proto__', 'set')] }),
    ).toEqual([{ 'perk_clicks.cmeta___proto__': 'x' }]);
    const foreign = await analytics.load({ dimensions: ['perk_clicks.cmeta_secret'] });
    expect([foreign.status, foreign.body]).toEqual([
      400,
      { error: "'cmeta_secret' not found for path 'perk_clicks.cmeta_secret'" },
    ]);
  });
});

describe('row-level security', () => {
  let reader: pg.Client;
  beforeAll(async () => {
    reader = new pg.Client({ connectionString: stack.database.readerUrl });
    await reader.connect();
  });
  afterAll(() => reader.end());

  const seen = async (as: string | null, text: string, params: unknown[] = []) => {
    await reader.query('begin read only');
    if (as !== null) await reader.query(`set local perkway.account_id = ${reader.escapeLiteral(as)}`);
    const { rows: found } = await reader.query({ text, values: params, rowMode: 'array' });
    await reader.query('commit');
    return found;
  };

  it('shows one account only, even in a statement without an account filter', async () => {
    const all = `select distinct account_id from tracking_events`;
    expect(await seen(account, all)).toEqual([[account]]);
    expect(await seen(other, all)).toEqual([[other]]);
    expect(await seen(null, all)).toEqual([]);
    expect(await seen('', all)).toEqual([]);
    for (const table of ['attribute_names', 'conversion_ids', 'campaign_names'])
      for (const row of await seen(other, `select account_id from ${table}`)) expect(row).toEqual([other]);
    expect(await seen(null, 'select * from attribute_names')).toEqual([]);
  });

  it('applies to a compiled query that filters by another account', async () => {
    const { queries } = normalize({ measures: ['perk_clicks.count'] }, Date.now());
    const { text } = compile(queries[0]!, modelFor([]), account);
    expect(await seen(account, text, [account])).toEqual([['4']]);
    expect(await seen(other, text, [account])).toEqual([['0']]);
  });

  it('lets the reader change nothing, nor read a partition by name', async () => {
    const refused = (text: string) =>
      expect(reader.query(text)).rejects.toThrow(/permission denied|read-only/);
    await refused('delete from tracking_events');
    await refused('set default_transaction_read_only = off; delete from tracking_events');
    await refused('select * from tracking_events_2026_03');
    await refused('create table mine (a int)');
  });
});
