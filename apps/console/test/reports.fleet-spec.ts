import { TRACKING_STREAM } from '@perkway/domain';
import { http, waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { ReportsService } from '../src/reports/reports.service.js';
import { ADMIN_KEY, Fleet } from './fleet';

describe('a report', () => {
  const fleet = new Fleet();
  let campaign: string;
  let account: string;
  let cookie: string;
  const today = () => new Date().toISOString().slice(0, 10);
  const yesterday = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const inOneDay = () => new Date(Date.now() + 86_400_000).toISOString();

  beforeAll(async () => {
    await fleet.start(['token-issuer', 'perks', 'boost', 'gift-cards', 'analytics-query']);
    const mine = await fleet.anAccount();
    account = mine.account;
    cookie = await fleet.signIn(mine.key);
    campaign = `campaign-${account}`;
    const operator = fleet.page(await fleet.signIn(ADMIN_KEY));
    await operator.put('/api/perks/admin/categories/1').send({ slug: 'travel', name: 'Travel' }).expect(200);
    await operator
      .put('/api/perks/admin/perks/weekend')
      .send({
        title: 'A weekend for two',
        description: '',
        callout: '',
        redemption_note: '',
        details: '',
        offer_url: 'https://fernway.example/',
        offer_slug: 'weekend',
        partner: { id: 'fernway', name: 'Fernway' },
        categories: [1],
      })
      .expect(200);
    await operator
      .put(`/api/boost/admin/campaigns/${campaign}`)
      .send({ owner: account, name: 'Spring', incentives: ['weekend'] })
      .expect(200);
    const boost = http({ url: fleet.urls.boost! }, { key: mine.key });
    for (const journeyId of ['journey-of-ann', 'journey-of-ben'])
      await boost
        .post(`/track/${campaign}?cmeta_secret_segment=rich`)
        .send({ event: 'teaser_view', journeyId })
        .expect(202);
    await boost
      .post(`/track/${campaign}`)
      .send({
        event: 'conversion',
        journeyId: 'journey-of-ann',
        perkId: 'weekend',
        value: 20,
        currency: 'EUR',
      })
      .expect(202);
    const query = {
      measures: ['campaign_funnel.journeys', 'campaign_funnel.converters'],
      filters: [{ member: 'campaign_funnel.campaign_id', operator: 'equals', values: [campaign] }],
    };
    await waitFor(async () => {
      const { body } = await fleet.page(cookie).post('/api/query/cubejs-api/v1/load').send({ query });
      const [row] = body.data ?? [];
      return (
        Number(row?.['campaign_funnel.journeys']) === 2 && Number(row?.['campaign_funnel.converters']) === 1
      );
    }, 'the events to be counted');
  }, 240_000);
  afterAll(() => fleet.close());

  const create = (body: object = {}) =>
    fleet
      .page(cookie)
      .post('/api/reports')
      .send({
        campaignId: campaign,
        range: { from: today(), to: today() },
        title: 'Spring',
        expiresAt: inOneDay(),
        ...body,
      });
  const read = (url: string) =>
    fleet
      .page()
      .post('/api/reports/read')
      .send({ secret: url.split('#')[1] });

  it('shows the figures of that time to anyone with its URL, and no individual journeys', async () => {
    const { body: made } = await create({ comment: 'Two mailings.' }).expect(201);
    expect(made.url).toMatch(/^http:\/\/console\.perkway\.test\/report#[\w-]{43}$/);
    const { body, text } = await read(made.url).expect(200);
    expect(body).toMatchObject({
      title: 'Spring',
      comment: 'Two mailings.',
      account_name: `Name of ${account}`,
      campaign_id: campaign,
      campaign_name: 'Spring',
      range: { from: today(), to: today() },
      funnel: {
        journeys: 2,
        teaser_viewers: 2,
        clickers: 0,
        converters: 1,
        gift_only_recipients: 0,
        click_rate: 0,
        conversion_rate: null,
      },
      range_before: { from: yesterday(), to: yesterday() },
      by_day: [{ day: today(), teaser_views: 2, teaser_views_people: 2, conversions: 1 }],
      by_day_before: [],
      by_perk: [
        {
          ...{ perk_id: 'weekend', perk_title: 'A weekend for two' },
          ...{ clicks: 0, clickers: 0, conversions: 1, converters: 1 },
        },
      ],
      by_source: [{ utm_source: null, clicks: 0, journeys: 2, clickers: 0, converters: 1 }],
    });
    const nothing = { count_before: 0, value: [], value_before: [] };
    expect(body.steps).toEqual([
      { step: 'journeys', count: 2, ...nothing },
      { step: 'clickers', count: 0, ...nothing },
      { step: 'converters', count: 1, ...nothing },
      { step: 'gift_only_recipients', count: 0, ...nothing },
      { step: 'conversions', count: 1, ...nothing, value: [{ currency: 'EUR', amount: 20 }] },
      ...['generated', 'revealed', 'cancelled', 'expired', 'outstanding'].map((step) => ({
        step,
        count: 0,
        ...nothing,
      })),
    ]);
    expect(text).not.toMatch(/journey-of|rich|secret_segment/);
    const list = await fleet.page(cookie).get('/api/reports').expect(200);
    expect(list.body.data[0]).toMatchObject({ id: made.id, title: 'Spring', revoked_at: null });
    const secret = made.url.split('#')[1];
    const stored = JSON.stringify([
      list.body,
      await fleet.database.query('select * from reports'),
      await fleet.database.query(
        'select * from audit_entries e left join audit_outcomes o on o.entry_id = e.id',
      ),
      fleet.console.logs,
    ]);
    expect(stored).not.toContain(secret);
  });

  it('has the period before by day, source and perk', async () => {
    const tomorrow = inOneDay().slice(0, 10);
    const { body: made } = await create({ range: { from: tomorrow, to: tomorrow } }).expect(201);
    const { body } = await read(made.url).expect(200);
    expect(body).toMatchObject({
      by_day: [],
      by_day_before: [{ day: today(), teaser_views_people: 2, conversions_people: 1 }],
      by_perk: [{ perk_id: 'weekend', converters: 0, clickers_before: 0, converters_before: 1 }],
      by_source: [
        {
          ...{ utm_source: null, journeys: 0, converters: 0 },
          ...{ journeys_before: 2, clickers_before: 0, converters_before: 1 },
        },
      ],
    });
  });

  it('never changes, and ends when it expires or is revoked', async () => {
    const { body: made } = await create().expect(201);
    const before = await read(made.url).expect(200);
    expect(before.body).not.toHaveProperty('comment');
    await http({ url: fleet.urls.boost! }, { key: ADMIN_KEY }).get('/campaigns').expect(200);
    expect((await read(made.url).expect(200)).body).toEqual(before.body);
    await fleet.page(cookie).delete(`/api/reports/${made.id}`).expect(204, '');
    await fleet.page(cookie).delete(`/api/reports/${made.id}`).expect(204);
    expect((await read(made.url).expect(404)).body.code).toBe('REPORT_NOT_FOUND');
    expect(await fleet.database.query('select body from reports where id = $1', [made.id])).toEqual([
      { body: null },
    ]);

    const { body: short } = await create().expect(201);
    await fleet.database.query('update reports set expires_at = now() where id = $1', [short.id]);
    await read(short.url).expect(404);
    await fleet.console.app.get(ReportsService).sweep();
    expect(await fleet.database.query('select body from reports where id = $1', [short.id])).toEqual([
      { body: null },
    ]);
    const { body: longer } = await create().expect(201);
    await fleet.console.app.get(ReportsService).sweep();
    await read(longer.url).expect(200);
    await read('#nonsense').expect(404);
  });

  it('belongs to one account', async () => {
    const other = await fleet.anAccount();
    const page = fleet.page(await fleet.signIn(other.key));
    const { body: made } = await create().expect(201);
    await page.get('/api/reports').expect(200, { data: [], next_cursor: null });
    expect((await page.delete(`/api/reports/${made.id}`).expect(404)).body.code).toBe('REPORT_NOT_FOUND');
    const foreign = await page
      .post('/api/reports')
      .send({
        campaignId: campaign,
        range: { from: today(), to: today() },
        title: 'x',
        expiresAt: inOneDay(),
      })
      .expect(404);
    expect(foreign.body.code).toBe('CAMPAIGN_NOT_FOUND');
    await read(made.url).expect(200);
    await page.delete(`/api/reports/${randomUUID()}`).expect(404);
  });

  it('needs a valid range and expiry', async () => {
    for (const body of [
      { range: { from: '2026-10-02', to: '2026-10-01' } },
      { range: { from: 'yesterday', to: '2026-10-01' } },
      { range: { from: '2026-13-99', to: '2026-13-99' } },
      { range: { from: '0000-01-01', to: '2026-10-01' } },
      { range: { from: '2026-02-30', to: '2026-10-01' } },
      { range: null },
      { range: undefined },
      { expiresAt: '2020-01-01T00:00:00.000Z' },
      { title: '' },
    ])
      expect((await create(body).expect(400)).body.code).toBe('VALIDATION_FAILED');
  });

  it('rejects a campaign id that would change the path of the call', async () => {
    for (const campaignId of ['.', '..'])
      expect((await create({ campaignId }).expect(404)).body.code).toBe('CAMPAIGN_NOT_FOUND');
  });

  it('analytics queries are limited to the account of the session', async () => {
    const other = await fleet.anAccount();
    const page = fleet.page(await fleet.signIn(other.key));
    const { body } = await page
      .post('/api/query/cubejs-api/v1/load')
      .set('authorization', 'somebody else')
      .send({ query: { measures: ['teaser_views.count'] } })
      .expect(200);
    expect(Number(body.data[0]?.['teaser_views.count'] ?? 0)).toBe(0);
    const csv = await fleet
      .page(cookie)
      .get(`/api/query/cubejs-api/v1/load?query=${encodeURIComponent('{"measures":["teaser_views.count"]}')}`)
      .set('accept', 'text/csv')
      .expect(200);
    expect(csv.headers['content-type']).toContain('text/csv');
    expect(csv.text).toBe('teaser_views.count\r\n2\r\n');
  });

  it('the health of the fleet is visible to operators only', async () => {
    await fleet.page(cookie).get('/api/health').expect(403);
    const operator = fleet.page(await fleet.signIn(ADMIN_KEY));
    const states = {
      perks: 'up',
      boost: 'up',
      'gift-cards': 'up',
      'token-issuer': 'up',
      'analytics-query': 'up',
      'analytics-ingest': 'up',
      console: 'up',
      links: 'down',
      'allocation-page': 'down',
      events: 'down',
    };
    let response = await operator.get('/api/health').expect(200);
    // An app that responds too late on a busy machine is reported as down.
    await waitFor(async () => {
      response = await operator.get('/api/health').expect(200);
      const { apps, outbox } = response.body;
      expect(
        Object.fromEntries(apps.map(({ name, state }: { name: string; state: string }) => [name, state])),
      ).toEqual(states);
      return outbox.every(({ waiting }: { waiting: number }) => waiting === 0);
    }, 'the states of the apps, and empty outboxes');
    const { body } = response;
    expect(body.outbox.map(({ app }: { app: string }) => app).sort()).toEqual([
      'boost',
      'gift-cards',
      'perks',
    ]);
    expect(body.outbox).toContainEqual(
      expect.objectContaining({ app: 'boost', oldest_seconds: 0, buffered: 0, waiting: 0 }),
    );
    const databases = Object.fromEntries(
      body.apps.map(({ name, database }: { name: string; database: boolean | null }) => [name, database]),
    );
    expect(databases).toMatchObject({ perks: true, 'analytics-query': true, console: true, links: null });
    expect(body.broker).toEqual({ available: true, latency_ms: expect.any(Number) });
    expect(body.webhooks).toBeNull();
    expect(body).toMatchObject({
      dead_letters: 0,
      erasures_oldest_seconds: 0,
      consumers: [
        { app: 'analytics-ingest', stream: TRACKING_STREAM, pending: 0, oldest_seconds: expect.any(Number) },
        // This test does not run `events`, which creates its consumer.
        { app: 'events', pending: null, ack_pending: null, oldest_seconds: null },
      ],
    });
  });
});
