import { waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { ADMIN_KEY, Fleet } from './fleet';

const WEBHOOKS = '/api/events/webhooks';
/** Nothing listens there. */
const URL = 'http://127.0.0.1:9/hooks/a-secret-of-the-path?token=another';

describe('webhooks and events', () => {
  const fleet = new Fleet();
  beforeAll(
    async () => void (await fleet.start(['token-issuer', 'gift-cards', 'analytics-query', 'events'])),
    180_000,
  );
  afterAll(() => fleet.close());

  const aClient = async () => {
    const { account, key } = await fleet.anAccount();
    return { account, page: fleet.page(await fleet.signIn(key)) };
  };
  type Page = Awaited<ReturnType<typeof aClient>>['page'];
  const log = async (page: Page) => (await page.get('/api/audit-log').expect(200)).body.data;

  it('are those of the account of the session', async () => {
    const [mine, others] = [await aClient(), await aClient()];
    await mine.page.put(`${WEBHOOKS}/orders`).send({ url: URL }).expect(201);
    expect((await mine.page.get(WEBHOOKS).expect(200)).body.data).toMatchObject([{ id: 'orders', url: URL }]);
    expect((await others.page.get(WEBHOOKS).expect(200)).body.data).toEqual([]);
    expect((await others.page.get(`${WEBHOOKS}/orders/deliveries`).expect(404)).body.code).toBe(
      'WEBHOOK_NOT_FOUND',
    );
    await fleet.page().get(WEBHOOKS).expect(401);
    await mine.page
      .put(`${WEBHOOKS}/orders`)
      .set('origin', 'https://elsewhere.example')
      .send({ url: URL })
      .expect(403);
  });

  it('show a secret once, and every change is in the audit log without it', async () => {
    const { account, page } = await aClient();
    const body = { url: URL, types: ['reward_link.revealed'], description: 'Marks orders' };
    const made = await page.put(`${WEBHOOKS}/orders`).send(body).expect(201);
    expect(made.body.secret).toMatch(/^whsec_/);
    const stored = await page.get(`${WEBHOOKS}/orders`).expect(200);
    expect(stored.body).not.toHaveProperty('secret');
    const change = { ...body, enabled: false };
    await page.put(`${WEBHOOKS}/orders`).set('if-match', '"older"').send(change).expect(412);
    await page.put(`${WEBHOOKS}/orders`).set('if-match', stored.headers.etag!).send(change).expect(200);
    const rotated = await page.post(`${WEBHOOKS}/orders/rotate`).expect(200);
    const pinged = await page.post(`${WEBHOOKS}/orders/ping`).expect(202, '');
    expect(pinged.headers['content-type']).toBeUndefined();
    await page.delete(`${WEBHOOKS}/orders`).expect(204);

    const entries = await log(page);
    const origin = 'http://127.0.0.1:9';
    expect(entries).toMatchObject([
      { action: 'DELETE', path: '/webhooks/orders', status: 204, before: { url: origin, enabled: false } },
      { action: 'POST', path: '/webhooks/orders/ping', status: 202 },
      { action: 'POST', path: '/webhooks/orders/rotate', status: 200, after: {} },
      { action: 'PUT', status: 200, before: { enabled: true }, after: { enabled: false } },
      { action: 'PUT', status: 412, after: { refused: 'PRECONDITION_FAILED' } },
      { action: 'PUT', status: 201, before: null, after: { id: 'orders', url: origin, types: body.types } },
    ]);
    expect(entries[0]).toMatchObject({ account_id: account, host: 'events' });
    const kept = JSON.stringify([
      entries,
      fleet.console.logs,
      await fleet.database.query('select * from audit_entries e join audit_outcomes o on o.entry_id = e.id'),
    ]);
    for (const secret of [made.body.secret, rotated.body.secret, 'a-secret-of-the-path', 'token=another'])
      expect(kept).not.toContain(secret);
  });

  it('show an operator who views the account all but secrets, and refuse every change', async () => {
    const { account, page } = await aClient();
    const { body: made } = await page.put(`${WEBHOOKS}/orders`).send({ url: URL }).expect(201);
    const operator = fleet.page(await fleet.signIn(ADMIN_KEY));
    await operator.post('/api/view').send({ accountId: account }).expect(200);
    const expectSameView = async () => {
      for (const path of ['', '/orders', '/orders/deliveries']) {
        const { text } = await page.get(WEBHOOKS + path).expect(200);
        await operator.get(WEBHOOKS + path).expect(200, text);
        expect(text).not.toContain(made.secret);
      }
    };
    await expectSameView();
    const before = await page.get(`${WEBHOOKS}/orders`).expect(200);
    const post = (path: string) => operator.post(`${WEBHOOKS}/orders/${path}`);
    for (const change of [
      operator.put(`${WEBHOOKS}/orders`).send({ url: URL, enabled: false }),
      operator.put(`${WEBHOOKS}/another`).send({ url: URL }),
      operator.delete(`${WEBHOOKS}/orders`),
      post('rotate'),
      post('ping'),
      post('replay').send({ from: new Date(0).toISOString() }),
      post(`deliveries/${randomUUID()}/retry`),
    ])
      expect((await change.expect(403)).body.code).toBe('VIEW_READ_ONLY');
    await expectSameView();
    await page.get(`${WEBHOOKS}/orders`).expect(200, before.body);
    expect((await page.get(`${WEBHOOKS}/orders/deliveries`).expect(200)).body.data).toEqual([]);
  });

  it('reject a forbidden URL and one webhook too many, with the code and the field', async () => {
    const { page } = await aClient();
    const refused = await page.put(`${WEBHOOKS}/inside`).send({ url: 'https://10.0.0.1/' }).expect(400);
    expect(refused.body).toMatchObject({ code: 'URL_FORBIDDEN', errors: [{ field: 'url' }] });
    for (let nth = 1; nth <= 20; nth += 1)
      await page.put(`${WEBHOOKS}/webhook-${nth}`).send({ url: URL }).expect(201);
    const full = await page.put(`${WEBHOOKS}/webhook-21`).send({ url: URL }).expect(409);
    expect(full.body.code).toBe('TOO_MANY_WEBHOOKS');
    expect((await log(page))[0]).toMatchObject({ status: 409, after: { refused: 'TOO_MANY_WEBHOOKS' } });
  });

  it('follow the feed with a request that waits longer than the timeout of other calls, and send an event again', async () => {
    const { account, page } = await aClient();
    const operator = fleet.page(await fleet.signIn(ADMIN_KEY));
    await page.put(`${WEBHOOKS}/all`).send({ url: URL }).expect(201);
    const pool = randomUUID();
    await operator.put(`/api/gift/admin/pools/${pool}`).send({ owner: account }).expect(200);
    await operator
      .post(`/api/gift/admin/pools/${pool}/cards`)
      .set('content-type', 'application/x-ndjson')
      .send(JSON.stringify({ code: randomUUID(), denomination: 25, currency: 'EUR', country: 'FR' }))
      .expect(200);
    const { body: empty } = await page.get('/api/events/events?wait=16').expect(200);
    expect(empty).toMatchObject({ data: [], has_more: false });
    const waiting = page.get(`/api/events/events?cursor=${empty.next_cursor}&wait=20`).expect(200);
    const [{ body }] = await Promise.all([
      waiting,
      page
        .post(`/api/gift/pool/${pool}/reward-links?idempotencyKey=${randomUUID()}`)
        .send({ denomination: 25, currency: 'EUR', expires_at: Math.floor(Date.now() / 1000) + 3600 })
        .expect(201),
    ]);
    expect(body.data).toMatchObject([{ type: 'reward_link.generated' }]);
    const [{ id }] = body.data;
    await page.get(`/api/events/events/${id}`).expect(200, body.data[0]);

    const deliveries = async () => (await page.get(`${WEBHOOKS}/all/deliveries`).expect(200)).body.data;
    await waitFor(async () => (await deliveries())[0]?.attempts >= 1, 'the first attempt');
    expect(await deliveries()).toMatchObject([{ event_id: id, state: 'pending', last_status: null }]);
    const [{ attempts }] = await deliveries();
    await page.post(`${WEBHOOKS}/all/deliveries/${id}/retry`).expect(202);
    await waitFor(async () => (await deliveries())[0].attempts > attempts, 'another attempt');
    const from = new Date(Date.now() - 60_000).toISOString();
    expect((await page.post(`${WEBHOOKS}/all/replay`).send({ from }).expect(202)).body).toEqual({
      events: 1,
    });
    expect(await log(page)).toMatchObject([
      { path: '/webhooks/all/replay', status: 202, after: { events: 1 } },
      { path: `/webhooks/all/deliveries/${id}/retry`, status: 202 },
      { path: `/pool/${pool}/reward-links` },
      { path: '/webhooks/all' },
    ]);
  });
});
