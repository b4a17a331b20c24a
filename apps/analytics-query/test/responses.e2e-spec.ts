import { waitFor } from '@perkway/testing';
import { deriveJourneyId, type TrackingEvent } from '@perkway/domain';
import request from 'supertest';
import { anAccountId, analyticsStack, event, tokenFor, type Analytics, type Stack } from './support.js';

let stack: Stack;
let analytics: Analytics;
const account = anAccountId();
const other = anAccountId();
const at = (text: string): number => Date.parse(text);
const BOT = { class: 'bot', reason: 'user-agent:bot' } as const;
const HUMAN = { class: 'human', reason: 'default' } as const;

type More = { at?: number; utm?: object; cmeta?: object; traffic?: object };
const draft = (fields: object): TrackingEvent =>
  event({ account, at: at('2026-03-10T12:00:00Z'), ...fields } as Parameters<typeof event>[0]);
const view = (type: 'teaser_view' | 'reward_view', campaign: string, journey: string, more: More = {}) =>
  draft({ type, campaign, journey, channel: 'outreach', ...more });
const incentiveClick = (campaign: string, journey: string, more: More = {}) =>
  draft({ type: 'incentive_click', campaign, journey, channel: 'outreach', perk: 'coffee', ...more });
const converted = (campaign: string, journey: string, more: More = {}) =>
  draft({ type: 'conversion', campaign, journey, ...more });
const JUNE = { at: at('2026-06-10T12:00:00Z') };
const link = (state: 'generated' | 'revealed' | 'cancelled', journey: string) =>
  draft({
    ...{ type: 'reward_link', campaign: 'gifts', journey, state },
    ...{ pool: 'cards', denomination: 25, currency: 'EUR', createdBy: 'ann' },
    ...JUNE,
  });

beforeAll(async () => {
  stack = await analyticsStack({ FISCAL_YEAR_START: '4' });
  analytics = stack.as(account);
  const anonymous = deriveJourneyId('spring');
  await stack.publisher.events(
    draft({ type: 'campaign_named', campaign: 'spring', name: 'Spring' }),
    draft({ type: 'campaign_named', campaign: 'autumn', name: 'Autumn' }),
    event({ type: 'perk_named', account: '', perk: 'coffee', title: 'Coffee', partner: 'roasters' }),
    // a saw the teaser twice and took every step; b clicked, but the pixel was blocked; c only saw the teaser; d is a
    // bot.
    view('teaser_view', 'spring', 'a', { utm: { utm_source: 'mail' } }),
    view('teaser_view', 'spring', 'a', { traffic: HUMAN }),
    view('reward_view', 'spring', 'a'),
    incentiveClick('spring', 'a', { cmeta: { plan: '=gold' } }),
    incentiveClick('spring', 'a'),
    converted('spring', 'a'),
    incentiveClick('spring', 'b'),
    view('teaser_view', 'spring', 'c', { traffic: HUMAN }),
    view('teaser_view', 'spring', 'd', { traffic: BOT }),
    incentiveClick('spring', 'd', { traffic: BOT }),
    // Three events without a journey of their own, one of them from a bot.
    view('teaser_view', 'spring', anonymous),
    incentiveClick('spring', anonymous),
    view('reward_view', 'spring', anonymous, { traffic: BOT }),
    // e only got a link, which a bot's view and the cancellation do not change; f opened the card; g converted, too; h
    // got none.
    draft({ type: 'campaign_named', campaign: 'gifts', name: 'Gifts' }),
    ...['e', 'f', 'g'].map((journey) => link('generated', journey)),
    link('cancelled', 'e'),
    view('teaser_view', 'gifts', 'e', { ...JUNE, traffic: BOT }),
    link('revealed', 'f'),
    converted('gifts', 'g', { ...JUNE, utm: { utm_source: 'mail' } }),
    converted('gifts', 'h', JUNE),
    // Another campaign for the same person, and an event outside the date range.
    view('teaser_view', 'autumn', 'a'),
    view('reward_view', 'spring', 'late', { at: at('2026-05-01T00:00:00Z') }),
    // A journey id that was derived from spring but is sent for autumn counts as a real journey there.
    view('reward_view', 'autumn', anonymous),
    event({
      type: 'teaser_view',
      account: other,
      campaign: 'spring',
      journey: 'theirs',
      channel: 'outreach',
      at: at('2026-03-10T12:00:00Z'),
    }),
  );
  await waitFor(async () => expect(await analytics.count('reward_views.count')).toBe(4), '4 views');
});
afterAll(() => stack.close());

const rows = async (query: object) => {
  const { status, body } = await analytics.load(query);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data;
};
const funnel = (...names: string[]) => names.map((name) => `campaign_funnel.${name}`);
const COUNTS = funnel(
  'journeys',
  'teaser_viewers',
  'reward_viewers',
  'clickers',
  'converters',
  'gift_recipients',
  'gift_openers',
  'events_without_journey',
);
const MARCH = [{ dimension: 'campaign_funnel.occurred_at', dateRange: ['2026-03-01', '2026-03-31'] }];
const SPRING = [{ member: 'campaign_funnel.campaign_id', operator: 'equals', values: ['spring'] }];

describe('campaign_funnel', () => {
  it('returns the funnel of one campaign in one query, counting only people', async () => {
    expect(
      await rows({
        measures: [...COUNTS, ...funnel('click_rate', 'journey_conversion_rate', 'conversion_rate')],
        timeDimensions: MARCH,
        filters: SPRING,
      }),
    ).toEqual([
      {
        'campaign_funnel.journeys': '3',
        'campaign_funnel.teaser_viewers': '2',
        'campaign_funnel.reward_viewers': '1',
        'campaign_funnel.clickers': '2',
        'campaign_funnel.converters': '1',
        'campaign_funnel.gift_recipients': '0',
        'campaign_funnel.gift_openers': '0',
        'campaign_funnel.events_without_journey': '2',
        'campaign_funnel.click_rate': expect.stringMatching(/^0\.6{15,}7$/),
        'campaign_funnel.journey_conversion_rate': expect.stringMatching(/^0\.3{16,}$/),
        'campaign_funnel.conversion_rate': expect.stringMatching(/^0\.50*$/),
      },
    ]);
  });

  it('counts a person in two campaigns once in total and once in each', async () => {
    const measures = funnel('journeys', 'events_without_journey');
    const [all] = await rows({ measures, timeDimensions: MARCH });
    expect(all).toEqual({
      // a, b, c, and the journey that was derived from spring but sent for autumn.
      'campaign_funnel.journeys': '4',
      'campaign_funnel.events_without_journey': '2',
    });
    const byName = await rows({
      measures,
      dimensions: ['campaign_funnel.campaign_name'],
      timeDimensions: MARCH,
      order: { 'campaign_funnel.campaign_name': 'asc' },
    });
    expect(byName.map((row) => Object.values(row))).toEqual([
      ['Autumn', '2', '0'],
      ['Spring', '3', '2'],
    ]);
    const byIdAndName = await rows({
      measures,
      dimensions: ['campaign_funnel.campaign_id', 'campaign_funnel.campaign_name'],
      timeDimensions: MARCH,
      order: { 'campaign_funnel.campaign_id': 'asc' },
    });
    expect(byIdAndName.map((row) => Object.values(row))).toEqual([
      ['autumn', 'Autumn', '2', '0'],
      ['spring', 'Spring', '3', '2'],
    ]);
  });

  it('counts who clicked each perk, under its current title', async () => {
    const byPerk = await rows({
      measures: funnel('clickers', 'converters'),
      dimensions: funnel('perk_id', 'perk_title'),
      timeDimensions: MARCH,
      filters: SPRING,
      order: { 'campaign_funnel.clickers': 'desc' },
    });
    // The conversion and the views name no perk.
    expect(byPerk.map((row) => Object.values(row))).toEqual([
      ['coffee', 'Coffee', '2', '0'],
      [null, null, '0', '1'],
    ]);
  });

  // Two ranges are combined in one statement; more run one by one.
  it.each([
    [
      ['2026-04', '2026-03'],
      [[], [['3', '1', '2026-03-01']]],
    ],
    [
      ['2026-05', '2026-04', '2026-03'],
      [[['1', '1', '2026-05-01']], [], [['3', '1', '2026-03-01']]],
    ],
  ])('compares %j, with filters and an empty range', async (months, expected) => {
    const { status, body } = await analytics.load(
      {
        measures: funnel('journeys', 'reward_viewers'),
        filters: [...SPRING, { member: 'campaign_funnel.journeys', operator: 'gt', values: ['0'] }],
        timeDimensions: [
          {
            dimension: 'campaign_funnel.occurred_at',
            compareDateRange: months.map((month) => [`${month}-01`, `${month}-30`]),
          },
        ],
        total: true,
      },
      'multi',
    );
    expect([status, body.error]).toEqual([200, undefined]);
    const results = body.results as { data: Record<string, string>[]; total: number }[];
    expect(
      results.map(({ data }) =>
        data.map((row) => [
          row['campaign_funnel.journeys'],
          row['campaign_funnel.reward_viewers'],
          row.compareDateRange?.slice(0, 10),
        ]),
      ),
    ).toEqual(expected);
    expect(results.map(({ total }) => total)).toEqual(expected.map(({ length }) => length));
  });

  it('returns null if there is nothing to divide by', async () => {
    const [row] = await rows({
      measures: funnel('journeys', 'click_rate', 'journey_conversion_rate', 'conversion_rate'),
      filters: [{ member: 'campaign_funnel.campaign_id', operator: 'equals', values: ['nothing'] }],
    });
    expect(row).toEqual({
      'campaign_funnel.journeys': '0',
      'campaign_funnel.click_rate': null,
      'campaign_funnel.journey_conversion_rate': null,
      'campaign_funnel.conversion_rate': null,
    });
  });

  // Each list of dimensions gets another form of statement.
  it.each([
    [[], [['4', '3', '1']]],
    [['campaign_name'], [['Gifts', '4', '3', '1']]],
    [['campaign_id', 'campaign_name'], [['gifts', 'Gifts', '4', '3', '1']]],
    // A group does not know the steps of g in the other one.
    [
      ['utm_source'],
      [
        ['mail', '1', '0', '0'],
        [null, '4', '3', '2'],
      ],
    ],
  ])('counts the journeys that only got a reward link, by %j', async (dimensions, expected) => {
    const found = await rows({
      measures: funnel('journeys', 'gift_recipients', 'gift_only_recipients'),
      dimensions: funnel(...dimensions),
      timeDimensions: [{ dimension: 'campaign_funnel.occurred_at', dateRange: ['2026-06-01', '2026-06-30'] }],
      order: funnel(...dimensions).map((member) => [member, 'asc']),
    });
    expect(found.map((row) => Object.values(row))).toEqual(expected);
  });

  it('groups by time and attribute, and filters groups by a rate', async () => {
    expect(
      await rows({
        measures: funnel('clickers'),
        dimensions: ['campaign_funnel.cmeta_plan'],
        filters: [{ member: 'campaign_funnel.cmeta_plan', operator: 'set' }],
      }),
    ).toEqual([{ 'campaign_funnel.cmeta_plan': '=gold', 'campaign_funnel.clickers': '1' }]);
    const months = await rows({
      measures: funnel('journeys'),
      timeDimensions: [{ dimension: 'campaign_funnel.occurred_at', granularity: 'month' }],
      filters: SPRING,
    });
    expect(months.map((row) => row['campaign_funnel.journeys'])).toEqual(['3', '1']);
    const clicked = await rows({
      measures: funnel('journeys'),
      dimensions: ['campaign_funnel.campaign_id'],
      timeDimensions: MARCH,
      filters: [{ member: 'campaign_funnel.click_rate', operator: 'gt', values: ['0.5'] }],
    });
    expect(clicked.map((row) => row['campaign_funnel.campaign_id'])).toEqual(['spring']);
  });

  it('counts the same for events stored before ingest recorded derived journeys', async () => {
    const query = { measures: COUNTS, dimensions: ['campaign_funnel.campaign_id'], timeDimensions: MARCH };
    const noted = await rows(query);
    await stack.database.query('update tracking_events set has_derived_journey = null');
    expect(await rows(query)).toEqual(noted);
  });
});

describe('the segment `people`', () => {
  it('excludes bots from every measure, and is annotated in the response', async () => {
    const { body } = await analytics.load({
      measures: ['teaser_views.count', 'teaser_views.count_people', 'teaser_views.journeys'],
      segments: ['teaser_views.people'],
    });
    expect(body.data).toEqual([
      { 'teaser_views.count': '5', 'teaser_views.count_people': '5', 'teaser_views.journeys': '3' },
    ]);
    expect(body.query.segments).toEqual(['teaser_views.people']);
    expect(body.annotation.segments).toEqual({
      'teaser_views.people': {
        title: 'Teaser Views People',
        shortTitle: 'People',
        description: 'Without bots, prefetches and mail proxies',
      },
    });
  });

  it('exists only on cubes with traffic classes', async () => {
    for (const segment of ['reward_links.people', 'teaser_views.nobody', 'none.people']) {
      const { status, body } = await analytics.load({
        measures: ['teaser_views.count'],
        segments: [segment],
      });
      expect([status, body.error]).toEqual([400, expect.stringContaining(`not found for path '${segment}'`)]);
    }
    const { status } = await analytics.load({
      measures: ['teaser_views.count'],
      segments: ['reward_views.people'],
    });
    expect(status).toBe(400);
  });
});

describe('custom granularities', () => {
  const starts = async (granularity: string, timezone = 'UTC') => {
    const { body } = await analytics.load({
      measures: ['reward_views.count'],
      timeDimensions: [{ dimension: 'reward_views.occurred_at', granularity }],
      timezone,
    });
    return {
      starts: body.data.map((row) => row[`reward_views.occurred_at.${granularity}`]),
      described: body.annotation.timeDimensions[`reward_views.occurred_at.${granularity}`].granularity,
    };
  };

  it('are a quarter of an hour, a week from Sunday and a fiscal year', async () => {
    expect((await starts('quarter_hour', 'Asia/Kathmandu')).starts).toEqual([
      '2026-03-10T17:45:00.000',
      '2026-05-01T05:45:00.000',
    ]);
    expect(await starts('week_from_sunday')).toEqual({
      starts: ['2026-03-08T00:00:00.000', '2026-04-26T00:00:00.000'],
      described: {
        name: 'week_from_sunday',
        title: 'Week from Sunday',
        interval: '1 week',
        origin: '2020-01-05T00:00:00.000',
      },
    });
    expect(await starts('fiscal_year')).toEqual({
      starts: ['2025-04-01T00:00:00.000', '2026-04-01T00:00:00.000'],
      described: { name: 'fiscal_year', title: 'Fiscal year', interval: '1 year', offset: '3 months' },
    });
  });

  it('are listed in /v1/meta, as are segments, descriptions and drill members', async () => {
    const { body } = await analytics.get('/cubejs-api/v1/meta');
    const cube = body.cubes.find(({ name }: { name: string }) => name === 'teaser_views');
    const named = (list: { name: string }[], name: string) => list.find((each) => each.name === name);
    expect(named(cube.dimensions, 'teaser_views.occurred_at')).toMatchObject({
      granularities: [
        { name: 'quarter_hour', interval: '15 minutes' },
        { name: 'week_from_sunday', interval: '1 week' },
        { name: 'fiscal_year', interval: '1 year', offset: '3 months' },
      ],
    });
    expect(named(cube.segments, 'teaser_views.people')).toMatchObject({ shortTitle: 'People', public: true });
    expect(named(cube.measures, 'teaser_views.count_people')).toMatchObject({
      description: 'Without bots, prefetches and mail proxies',
      drillMembers: expect.arrayContaining(['teaser_views.campaign_name']),
    });
    expect(JSON.stringify(body)).not.toContain('tracking_events');
    const extended = (await analytics.get('/cubejs-api/v1/meta?extended')).body.cubes[2];
    expect(extended).toMatchObject({
      sql: expect.stringContaining('tracking_events'),
      joins: [],
      preAggregations: [],
    });
    expect(named(extended.measures, 'teaser_views.count_people')).toMatchObject({
      sql: expect.stringContaining('count(*)'),
      filters: [{ sql: expect.stringContaining('traffic_class') }],
    });
  });

  it('drill members return the rows behind a number, with its own condition', async () => {
    const { body } = await analytics.get('/cubejs-api/v1/meta');
    const { drillMembersGrouped } = body.cubes
      .find(({ name }: { name: string }) => name === 'teaser_views')
      .measures.find(({ name }: { name: string }) => name === 'teaser_views.count_people');
    const drilled = await rows({
      ...drillMembersGrouped,
      filters: [{ member: 'teaser_views.count_people', operator: 'measureFilter' }],
    });
    expect(drilled.map((row) => row['teaser_views.journey_id']).sort()).toEqual(
      ['a', 'a', 'a', 'c', deriveJourneyId('spring')].sort(),
    );
  });
});

describe('CSV', () => {
  const load = (query: object, accept = 'text/csv') =>
    request(stack.app.url)
      .get('/cubejs-api/v1/load')
      .query({ query: JSON.stringify(query) })
      .set({ authorization: tokenFor(account, stack.key), accept });
  const query = {
    measures: ['incentive_clicks.count'],
    dimensions: ['incentive_clicks.cmeta_plan', 'incentive_clicks.campaign_name'],
    order: { 'incentive_clicks.count': 'asc' },
  };

  it('has the members as its header, in the order of the query, and escapes formulas', async () => {
    const { status, text, headers } = await load(query);
    expect([status, headers['content-type'], headers.vary]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
      expect.stringContaining('Accept'),
    ]);
    expect(text).toBe(
      'incentive_clicks.cmeta_plan,incentive_clicks.campaign_name,incentive_clicks.count\r\n' +
        "'=gold,Spring,1\r\n" +
        ',Spring,4\r\n',
    );
  });

  it('works with POST, and has only a header if there are no rows', async () => {
    const { status, text } = await request(stack.app.url)
      .post('/cubejs-api/v1/load')
      .set({ authorization: tokenFor(account, stack.key), accept: 'text/csv' })
      .send({ query: { ...query, limit: 0 } });
    expect([status, text]).toEqual([
      200,
      'incentive_clicks.cmeta_plan,incentive_clicks.campaign_name,incentive_clicks.count\r\n',
    ]);
  });

  it('has compared ranges in one table, and rejects blended queries', async () => {
    const { text } = await load({
      measures: ['reward_views.count'],
      timeDimensions: [
        {
          dimension: 'reward_views.occurred_at',
          compareDateRange: [['2026-03-01', '2026-03-31'], '2026-05-01'],
        },
      ],
    });
    expect(text.split('\r\n')).toEqual([
      'reward_views.count,compareDateRange',
      '3,2026-03-01T00:00:00.000 - 2026-03-31T23:59:59.999',
      '1,2026-05-01T00:00:00.000 - 2026-05-01T23:59:59.999',
      '',
    ]);
    const blended = ['reward_views', 'teaser_views'].map((cube) => ({
      measures: [`${cube}.count`],
      timeDimensions: [{ dimension: `${cube}.occurred_at`, granularity: 'day' }],
    }));
    const { status, body } = await load(blended);
    expect([status, body.error]).toEqual([400, 'A CSV has one table: send one query']);
  });

  it.each([
    ['*/*', 'application/json'],
    ['application/json, text/csv;q=0.5', 'application/json'],
    ['text/html, text/csv;q=0.9, */*;q=0.1', 'text/csv'],
  ])('responds to Accept %s with %s', async (accept, type) => {
    expect((await load(query, accept)).headers['content-type']).toContain(type);
  });

  it('keeps errors in JSON', async () => {
    const { status, body } = await load({ measures: ['none.count'] });
    expect([status, body]).toEqual([400, { error: "Cube 'none' not found for path 'none.count'" }]);
  });
});

describe('x-cube-authorization', () => {
  it('carries the token if Authorization is used by a proxy', async () => {
    const meta = (headers: Record<string, string>) =>
      request(stack.app.url).get('/cubejs-api/v1/meta').set(headers);
    const token = tokenFor(account, stack.key);
    expect((await meta({ 'x-cube-authorization': token, authorization: 'Basic Og==' })).status).toBe(200);
    expect((await meta({ 'x-cube-authorization': 'nonsense', authorization: token })).status).toBe(401);
  });
});
