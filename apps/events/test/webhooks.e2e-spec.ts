import { EVENT_TYPES, LIST_WEBHOOK_STATES } from '@perkway/domain';
import { rpcCaller, waitFor, type TestKey } from '@perkway/testing';
import { Webhook } from 'standardwebhooks';
import { MAX_PENDING } from '../src/deliveries/delivery-queue.js';
import { anEvent } from './stored-events.js';
import { WebhooksWorld } from './webhooks-world.js';

const world = new WebhooksWorld();
beforeAll(() => world.start());
afterAll(() => world.stop());

const deliveriesOf = async (key: TestKey, id: string, query = '') =>
  (await world.as(key).get(`/webhooks/${id}/deliveries${query}`).expect(200)).body.data;

describe('a webhook', () => {
  const url = 'https://93.184.216.34/hook';

  it('is created with a secret that is shown once, and is returned as it was stored', async () => {
    const key = world.key();
    const put = { url, types: ['perk.clicked'], ordered: true, enabled: true, description: 'Orders' };
    const created = await world.as(key).put('/webhooks/orders').send(put).expect(201);
    const { secret, ...webhook } = created.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(webhook).toMatchObject({ id: 'orders', ...put, disabled_at: null, disabled_reason: null });
    const read = await world.as(key).get('/webhooks/orders').expect(200);
    expect(read.body).toEqual(webhook);
    expect(read.headers['etag']).toBe(created.headers['etag']);
    const again = await world.as(key).put('/webhooks/orders').send(read.body).expect(200);
    expect(again.body).toEqual(webhook);
    expect((await world.as(key).get('/webhooks').expect(200)).body).toEqual({
      data: [webhook],
      next_cursor: null,
    });
    const [row] = await world.database.query('select secret from webhooks where account_id = $1', [
      key.account,
    ]);
    expect(row!['secret'].includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
    expect(row!['secret'].includes(secret)).toBe(false);
  });

  it('has defaults', async () => {
    const key = world.key();
    const { body } = await world.as(key).put('/webhooks/a').send({ url }).expect(201);
    expect(body).toMatchObject({ types: null, ordered: false, enabled: true, description: null });
    for (const type of EVENT_TYPES)
      await world
        .as(key)
        .put('/webhooks/a')
        .send({ url, types: [type] })
        .expect(200);
  });

  it('is replaced or deleted only if its ETag matches If-Match', async () => {
    const key = world.key();
    await world.as(key).put('/webhooks/a').set('If-Match', '*').send({ url }).expect(412);
    const { headers } = await world.as(key).put('/webhooks/a').send({ url }).expect(201);
    const changed = { url, description: 'x' };
    await world.as(key).put('/webhooks/a').set('If-Match', '"x"').send(changed).expect(412);
    await world.as(key).put('/webhooks/a').set('If-Match', headers['etag']!).send(changed).expect(200);
    await world.as(key).put('/webhooks/a').set('If-Match', headers['etag']!).send(changed).expect(412);
    await world.as(key).delete('/webhooks/a').set('If-Match', headers['etag']!).expect(412);
  });

  it.each([
    [{}, 'url'],
    [{ url: 7 }, 'url'],
    [{ url, types: [] }, 'types'],
    [{ url, types: ['perk.viewed'] }, 'types'],
    [{ url, types: 'perk.clicked' }, 'types'],
    [{ url, types: ['perk.clicked', 'perk.clicked'] }, 'types'],
    [{ url, ordered: 'yes' }, 'ordered'],
    [{ url, enabled: 1 }, 'enabled'],
    [{ url, description: 'x'.repeat(301) }, 'description'],
    [{ url, secret: 'whsec_x' }, 'secret'],
    [{ url, filter: {} }, 'filter'],
  ])('is rejected with the body %j', async (body, field) => {
    const response = await world.as(world.key()).put('/webhooks/a').send(body).expect(400);
    expect(response.body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field }] });
  });

  it('says what its URL must be if there is none', async () => {
    const { body } = await world.as(world.key()).put('/webhooks/a').send({}).expect(400);
    expect(body.detail).toMatch(
      /^url must be an absolute https URL of up to 2048 characters, such as https:/,
    );
  });

  it.each([
    'http://93.184.216.34/',
    'https://10.0.0.1/',
    'https://[fd00:ec2::254]/',
    'https://[::ffff:10.0.0.1]/',
    'https://metadata.google.internal/',
    'https://user:password@93.184.216.34/',
    'https://0xa9fea9fe/',
    'ftp://93.184.216.34/',
    'not a URL',
  ])('is rejected with the URL %s', async (forbidden) => {
    const key = world.key();
    const { body } = await world.as(key).put('/webhooks/a').send({ url: forbidden }).expect(400);
    expect(body.code).toBe('URL_FORBIDDEN');
    await world.as(key).get('/webhooks/a').expect(404);
  });

  it('cannot be read or changed by other accounts or with a JOURNEY key', async () => {
    const [owner, other] = [world.key(), world.key()];
    await world.put(owner, 'mine', { url });
    expect((await world.as(other).get('/webhooks').expect(200)).body.data).toEqual([]);
    for (const [method, path] of [
      ['get', ''],
      ['delete', ''],
      ['post', '/rotate'],
      ['post', '/ping'],
      ['get', '/deliveries'],
      ['post', '/deliveries/e1/retry'],
    ] as const) {
      const { body } = await world.as(other)[method](`/webhooks/mine${path}`).expect(404);
      expect(body.code).toBe('WEBHOOK_NOT_FOUND');
    }
    await world.as(other).post('/webhooks/mine/replay').send({ from: '2026-01-01T00:00:00Z' }).expect(404);
    const journey = world.key(owner.account, 'JOURNEY');
    await world.as(journey).get('/webhooks').expect(403);
    await world.as(journey).put('/webhooks/mine').send({ url }).expect(403);
  });

  it('is rejected if the account has 20, even when many are created concurrently', async () => {
    const key = world.key();
    const statuses = await Promise.all(
      Array.from({ length: 25 }, async (_, index) => {
        for (;;) {
          const { status, body } = await world.as(key).put(`/webhooks/w${index}`).send({ url });
          // On a busy machine some requests time out while they wait for the others.
          if (status !== 503) return status === 409 ? body.code : status;
        }
      }),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect(statuses.filter((status) => status === 'TOO_MANY_WEBHOOKS')).toHaveLength(5);
    const first = await world.as(key).get('/webhooks?limit=15').expect(200);
    const second = await world.as(key).get(`/webhooks?limit=15&cursor=${first.body.next_cursor}`).expect(200);
    const ids = [...first.body.data, ...second.body.data].map(({ id }) => id);
    expect(new Set(ids).size).toBe(20);
    await world.as(key).delete(`/webhooks/${ids[0]}`).expect(204);
    await world.put(key, 'one-more', { url });
  });
});

describe('deliveries', () => {
  it('are signed events of the types of the webhook that occur after its creation', async () => {
    const [key, receiver] = [world.key(), await world.receiver()];
    const before = anEvent();
    await world.store(key, before);
    const secret = await world.put(key, 'a', { url: `${receiver.url}/hook`, types: ['perk.clicked'] });
    const late = anEvent({ occurred_at: new Date(Date.now() - 60_000).toISOString() });
    const event = anEvent({ data: { perk_id: 'coffee', utm: { utm_source: 'é' } } });
    await world.store(key, late, anEvent({ type: 'teaser.viewed' }), event);
    await waitFor(() => receiver.received.length > 0, 'the delivery');
    const [{ body, headers }] = receiver.received as [(typeof receiver.received)[0]];
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(event);
    await waitFor(async () => {
      expect(await deliveriesOf(key, 'a')).toEqual([
        {
          event_id: event.id,
          type: 'perk.clicked',
          state: 'delivered',
          attempts: 1,
          last_status: 204,
          last_error: null,
          next_attempt_at: null,
          delivered_at: expect.any(String),
        },
      ]);
    }, 'the stored result');
    expect(receiver.ids()).toEqual([event.id]);
    expect(await deliveriesOf(key, 'a', '?state=pending')).toEqual([]);
    expect(await deliveriesOf(key, 'a', '?state=delivered')).toHaveLength(1);
    await world.as(key).get('/webhooks/a/deliveries?state=x').expect(400);
  });

  it('are signed with the last two secrets after each rotation', async () => {
    const [key, receiver] = [world.key(), await world.receiver()];
    const first = await world.put(key, 'a', { url: receiver.url });
    const rotate = async () =>
      (await world.as(key).post('/webhooks/a/rotate').expect(200)).body.secret as string;
    const verifies = async (...secrets: string[]) => {
      const count = receiver.received.length;
      await world.store(key, anEvent());
      await waitFor(() => receiver.received.length > count, 'the delivery');
      const { body, headers } = receiver.received.at(-1)!;
      expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2);
      return secrets.map((secret) => {
        try {
          return Boolean(new Webhook(secret).verify(body, headers as Record<string, string>));
        } catch {
          return false;
        }
      });
    };
    const second = await rotate();
    expect(await verifies(first, second)).toEqual([true, true]);
    const third = await rotate();
    expect(await verifies(first, second, third)).toEqual([false, true, true]);
  });

  it('of a ping go only to its webhook, even if that is disabled', async () => {
    const [key, receiver] = [world.key(), await world.receiver()];
    const secret = await world.put(key, 'a', {
      url: `${receiver.url}/a`,
      types: ['perk.clicked'],
      enabled: false,
    });
    await world.put(key, 'b', { url: `${receiver.url}/b` });
    await world.store(key, anEvent());
    await world.as(key).post('/webhooks/a/ping').expect(202);
    await waitFor(() => receiver.ids('/a').length > 0 && receiver.ids('/b').length > 0, 'the ping');
    const { body, headers, id } = receiver.received.find(({ path }) => path === '/a')!;
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual({
      id,
      type: 'webhook.ping',
      occurred_at: expect.stringMatching(/Z$/),
      subject: 'webhook/a',
      data: { webhook_id: 'a' },
    });
    expect(receiver.ids('/b')).not.toContain(id);
    await world.as(key).get(`/events/${id}`).expect(404);
  });

  /** Makes a webhook with a delivery that fails until `succeed` is called. */
  const aFailingWebhook = async () => {
    const key = world.key();
    let status = 500;
    const receiver = await world.receiver((response) => response.writeHead(status).end());
    await world.put(key, 'a', { url: receiver.url });
    const event = anEvent();
    await world.store(key, event);
    return { key, event, succeed: () => (status = 200) };
  };

  it('that fail set `failing_since` of the webhook, until one succeeds', async () => {
    const { key, event, succeed } = await aFailingWebhook();
    const webhook = async () => (await world.as(key).get('/webhooks/a').expect(200)).body;
    await waitFor(async () => (await webhook()).failing_since !== null, 'the failed delivery');
    const { failing_since, ...failing } = await webhook();
    expect(Date.parse(failing_since)).toBeGreaterThan(Date.now() - 60_000);
    // A client may send back what it has read.
    const { body } = await world
      .as(key)
      .put('/webhooks/a')
      .send({ ...failing, failing_since, ordered: true })
      .expect(200);
    expect(body).toMatchObject({ ordered: true, failing_since });
    succeed();
    await world.as(key).post(`/webhooks/a/deliveries/${event.id}/retry`).expect(202);
    await waitFor(async () => (await webhook()).failing_since === null, 'the successful delivery');
  });

  it('end when the receiver responds with 410 Gone, which disables the webhook', async () => {
    const key = world.key();
    let status = 410;
    const receiver = await world.receiver((response) => response.writeHead(status).end('no more'));
    await world.put(key, 'a', { url: receiver.url });
    const event = anEvent();
    await world.store(key, event);
    await waitFor(async () => {
      const { body } = await world.as(key).get('/webhooks/a').expect(200);
      expect(body).toMatchObject({ enabled: false, disabled_reason: 'The receiver responded with 410 Gone' });
      expect(Date.parse(body.disabled_at)).toBeGreaterThan(Date.now() - 60_000);
      expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(body.created_at));
    }, 'the disabled webhook');
    const [delivery] = await deliveriesOf(key, 'a', '?state=failed');
    expect(delivery).toMatchObject({
      attempts: 1,
      last_status: 410,
      last_error: 'no more',
      next_attempt_at: null,
    });
    const retry = await world.as(key).post(`/webhooks/a/deliveries/${event.id}/retry`).expect(409);
    expect(retry.body.code).toBe('WEBHOOK_DISABLED');
    await world.as(key).post('/webhooks/a/replay').send({ from: event.occurred_at }).expect(409);

    status = 200;
    const missed = anEvent();
    await world.store(key, missed);
    const { body } = await world
      .as(key)
      .put('/webhooks/a')
      .send({ url: receiver.url, enabled: true })
      .expect(200);
    expect(body).toMatchObject({ enabled: true, disabled_at: null, disabled_reason: null });
    await world.as(key).post(`/webhooks/a/deliveries/${event.id}/retry`).expect(202);
    const next = anEvent();
    await world.store(key, next);
    await waitFor(() => receiver.ids().length === 3, 'the later deliveries');
    expect(receiver.ids().slice(1).sort()).toEqual([event.id, next.id].sort());
  });

  it('fail if they are pending when the webhook is disabled, and vanish when it is deleted', async () => {
    const key = world.key();
    const receiver = await world.receiver((response) => response.writeHead(500).end());
    await world.put(key, 'a', { url: receiver.url });
    await world.store(key, anEvent(), anEvent());
    await waitFor(async () => expect(await deliveriesOf(key, 'a', '?state=pending')).toHaveLength(2), 'both');
    await world.as(key).put('/webhooks/a').send({ url: receiver.url, enabled: false }).expect(200);
    expect(await deliveriesOf(key, 'a', '?state=pending')).toEqual([]);
    expect(await deliveriesOf(key, 'a', '?state=failed')).toHaveLength(2);
    await world.as(key).delete('/webhooks/a').expect(204);
    await world.as(key).get('/webhooks/a/deliveries').expect(404);
    await world.put(key, 'a', { url: receiver.url });
    expect(await deliveriesOf(key, 'a')).toEqual([]);
  });

  it('are listed newest first, page by page', async () => {
    const [key, receiver] = [world.key(), await world.receiver()];
    await world.put(key, 'a', { url: receiver.url });
    await world.put(key, 'b', { url: receiver.url });
    const events = [1, 2, 3, 4, 5].map(() => anEvent());
    await world.store(key, ...events);
    await waitFor(async () => expect(await deliveriesOf(key, 'a')).toHaveLength(5), 'the deliveries');
    const listed: string[] = [];
    let cursor = '';
    do {
      const query = `?limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await world.as(key).get(`/webhooks/a/deliveries${query}`).expect(200);
      listed.push(...body.data.map((delivery: { event_id: string }) => delivery.event_id));
      if (body.next_cursor)
        await world.as(key).get(`/webhooks/b/deliveries?cursor=${body.next_cursor}`).expect(400);
      cursor = body.next_cursor;
    } while (cursor);
    expect(listed).toEqual(events.map(({ id }) => id).reverse());
  });

  it('make a webhook appear in the list of failing webhooks when they fail or the service disables it', async () => {
    const key = world.key();
    const receiver = await world.receiver((response, { path }) =>
      response.writeHead(path === '/gone' ? 410 : path === '/good' ? 204 : 500).end(),
    );
    for (const id of ['failing', 'gone', 'good', 'switched-off'])
      await world.put(key, id, { url: `${receiver.url}/${id}` });
    // A failure of an earlier outage, which must not be listed as the current reason.
    await world.database.query(
      `insert into deliveries (webhook, event_id, type, state, attempts, last_status, next_attempt_at, created_at)
       select key, 'earlier', 'reward_link.revealed', 'failed', 8, 404, now(), now() from webhooks
       where account_id = $1 and id = 'failing'`,
      [key.account],
    );
    await world.store(key, anEvent(), anEvent());
    const { rpc, close } = await rpcCaller(world.nats.url);
    try {
      const listed = async () =>
        (await rpc.request(LIST_WEBHOOK_STATES, {})).webhooks.filter(
          ({ account }) => account === key.account,
        );
      const failing = {
        account: key.account,
        origin: receiver.url,
        enabled: true,
        failingSince: expect.any(Number),
        disabledAt: null,
        reason: 'Status 500',
        pending: 2,
      };
      await waitFor(async () => {
        const webhooks = (await listed()).sort((one, other) => (one.id < other.id ? -1 : 1));
        expect(webhooks).toEqual([
          { ...failing, id: 'failing' },
          {
            account: key.account,
            id: 'gone',
            origin: receiver.url,
            enabled: false,
            failingSince: expect.any(Number),
            disabledAt: expect.any(Number),
            reason: 'The receiver responded with 410 Gone',
            pending: 0,
          },
          { ...failing, id: 'switched-off' },
        ]);
      }, 'the failing webhooks');
      await world
        .as(key)
        .put('/webhooks/switched-off')
        .send({ url: `${receiver.url}/switched-off`, enabled: false })
        .expect(200);
      expect((await listed()).map(({ id }) => id).sort()).toEqual(['failing', 'gone']);
      expect(await rpc.request(LIST_WEBHOOK_STATES, {})).toMatchObject({ hasEnabled: true });
      const { webhooks, hasEnabled } = await rpc.request(LIST_WEBHOOK_STATES, { account: key.account });
      expect(hasEnabled).toBe(true);
      expect(webhooks.map(({ id }) => id).sort()).toEqual(['failing', 'gone', 'good', 'switched-off']);
      expect(webhooks.at(-1)).toMatchObject({
        id: 'good',
        enabled: true,
        failingSince: null,
        disabledAt: null,
        pending: 0,
      });
      const none = await rpc.request(LIST_WEBHOOK_STATES, { account: world.key().account });
      expect(none).toEqual({ webhooks: [], hasEnabled: false });
    } finally {
      await close();
    }
  });

  it('are attempted at once when they are retried', async () => {
    const { key, event, succeed } = await aFailingWebhook();
    await waitFor(
      async () => expect((await deliveriesOf(key, 'a'))[0]!.attempts).toBeGreaterThan(0),
      'the failure',
    );
    // So that only the request can lead to another attempt.
    await world.database.query(
      `update deliveries set next_attempt_at = now() + interval '1 day' where event_id = $1`,
      [event.id],
    );
    succeed();
    await world.as(key).post(`/webhooks/a/deliveries/${event.id}/retry`).expect(202);
    await waitFor(
      async () => expect((await deliveriesOf(key, 'a'))[0]).toMatchObject({ state: 'delivered' }),
      'the success',
    );
    expect((await deliveriesOf(key, 'a'))[0]!.attempts).toBeGreaterThanOrEqual(2);
    const { body } = await world.as(key).post('/webhooks/a/deliveries/none/retry').expect(404);
    expect(body.code).toBe('EVENT_NOT_FOUND');
    await world.as(key).post('/webhooks/a/deliveries/%00/retry').expect(400);
  });

  it('are attempted at once when they are retried or pinged, even if the webhook has reached its limit', async () => {
    const [key, hanging] = [world.key(), await world.receiver(() => undefined)];
    await world.put(key, 'a', { url: hanging.url });
    const events = Array.from({ length: 60 }, () => anEvent());
    await world.store(key, ...events);
    await waitFor(() => hanging.ids().length >= 16, 'as many attempts as a webhook may have');
    const attempted = hanging.ids();
    // While an attempt is running, the list shows when it was due, not when its lease ends.
    for (const { event_id, next_attempt_at } of await deliveriesOf(key, 'a', '?state=pending'))
      if (attempted.includes(event_id)) expect(Date.parse(next_attempt_at)).toBeLessThan(Date.now());
    const waiting = events.find(({ id }) => !attempted.includes(id))!;
    await world.as(key).post(`/webhooks/a/deliveries/${waiting.id}/retry`).expect(202);
    await world.as(key).post('/webhooks/a/ping').expect(202);
    // Sooner than the first attempts end, which is after 15 s.
    await waitFor(() => hanging.ids().length >= 18, 'the retry and the ping', 12_000);
    const types = hanging.received.slice(16, 18).map(({ body }) => JSON.parse(body).type);
    expect(types.sort()).toEqual(['perk.clicked', 'webhook.ping']);
    expect(hanging.ids().slice(16, 18)).toContain(waiting.id);
    // Four such attempts run at once; more wait for the first ones.
    for (let ping = 0; ping < 6; ping++) await world.as(key).post('/webhooks/a/ping').expect(202);
    await waitFor(() => hanging.ids().length >= 20, 'two more');
    const [delivery] = await deliveriesOf(key, 'a');
    expect(delivery).toMatchObject({ type: 'webhook.ping', state: 'pending', attempts: 0 });
    await world.as(key).delete('/webhooks/a').expect(204);
  });

  it('that are pending become ordered when `ordered` is switched on, and unordered when it is switched off', async () => {
    const key = world.key();
    const replies: (() => void)[] = [];
    const receiver = await world.receiver(
      (response) => void replies.push(() => void response.writeHead(204).end()),
    );
    const put = (ordered: boolean) => world.as(key).put('/webhooks/a').send({ url: receiver.url, ordered });
    await put(false).expect(201);
    const events = Array.from({ length: 40 }, () => anEvent());
    await world.store(key, ...events);
    await waitFor(() => replies.length === 16, 'as many attempts as a webhook may have');
    await put(true).expect(200);
    for (const reply of replies.splice(0)) reply();
    for (let next = 16; next < 30; next++) {
      await waitFor(() => replies.length > 0, `event ${next}`);
      expect(receiver.ids()).toHaveLength(next + 1);
      for (const reply of replies.splice(0)) reply();
    }
    await waitFor(() => replies.length === 1, 'one more');
    await put(false).expect(200);
    await waitFor(() => replies.length === 10, 'all others');
    for (const reply of replies) reply();
    expect(receiver.ids().slice(16, 31)).toEqual(events.slice(16, 31).map(({ id }) => id));
    expect(receiver.ids().sort()).toEqual(events.map(({ id }) => id).sort());
  });

  it('of a webhook that the statistics of the database lack are retried and ordered in time', async () => {
    const hanging = await world.receiver(() => undefined);
    const fill = async () => {
      const key = world.key();
      await world.put(key, 'a', { url: hanging.url });
      await world.database.query(
        `insert into deliveries (webhook, event_id, position, type, next_attempt_at, created_at)
         select key, 'event-' || n, n, 'perk.clicked', now() + interval '1 day', now()
         from webhooks, generate_series(1, ${MAX_PENDING}) n where account_id = $1`,
        [key.account],
      );
      return key;
    };
    await fill();
    await world.database.query('analyze deliveries');
    const key = await fill();
    // A join of all deliveries of the webhook with each other would take longer than a statement may.
    await world.as(key).post('/webhooks/a/deliveries/event-4000/retry').expect(202);
    await world.as(key).put('/webhooks/a').send({ url: hanging.url, ordered: true }).expect(200);
    await world.as(key).delete('/webhooks/a').expect(204);
  });

  it('of an ordered webhook are made one at a time for one subject', async () => {
    const [key, receiver] = [world.key(), await world.receiver()];
    await world.put(key, 'a', { url: receiver.url, ordered: true });
    const events = Array.from({ length: 60 }, () => anEvent());
    await world.store(key, ...events);
    await waitFor(() => receiver.ids().length >= events.length, 'all of them');
    expect(receiver.ids()).toEqual(events.map(({ id }) => id));
  });

  it('of at most ten replays are pending at once; a further replay is rejected', async () => {
    const key = world.key();
    const receiver = await world.receiver((response) => response.writeHead(500).end());
    await world.put(key, 'a', { url: receiver.url });
    const event = anEvent();
    await world.store(key, event);
    // The queue of the webhook is full, so no replay ends.
    const [{ key: webhook }] = (await world.database.query('select key from webhooks where account_id = $1', [
      key.account,
    ])) as [{ key: string }];
    await world.database.query(
      `insert into deliveries (webhook, event_id, type, next_attempt_at, created_at)
       select $1, 'full-' || n, 'perk.clicked', now() + interval '1 day', now() from generate_series(1, 5000) n`,
      [webhook],
    );
    const replay = () => world.as(key).post('/webhooks/a/replay').send({ from: event.occurred_at });
    // A time in the future, as a client sends it whose clock is ahead of the server's.
    const from = new Date(Date.now() + 3_600_000).toISOString();
    await world.as(key).post('/webhooks/a/replay').send({ from }).expect(202, { events: 0 });
    for (let running = 0; running < 10; running += 1) await replay().expect(202, { events: 1 });
    expect((await replay().expect(429)).body.code).toBe('TOO_MANY_REQUESTS');
    await world.as(key).put('/webhooks/a').send({ url: receiver.url, enabled: false }).expect(200);
  });

  it('of a replay are the events of the requested time and the types of the webhook, with their ids', async () => {
    const [key, receiver] = [world.key(), await world.receiver()];
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
    const events = [1, 2, 3, 4].map((second) => anEvent({ occurred_at: at(second) }));
    await world.store(key, ...events, anEvent({ occurred_at: at(2), type: 'teaser.viewed' }));
    await world.put(key, 'a', { url: receiver.url, types: ['perk.clicked'] });
    const replay = (body: object) => world.as(key).post('/webhooks/a/replay').send(body);
    expect((await replay({ from: at(2), to: at(3) }).expect(202)).body).toEqual({ events: 2 });
    const [, second, third] = events.map(({ id }) => id);
    await waitFor(() => receiver.ids().length === 2, 'the replay');
    expect(receiver.ids().sort()).toEqual([second, third].sort());
    await waitFor(
      async () => expect(await deliveriesOf(key, 'a', '?state=delivered')).toHaveLength(2),
      'the record',
    );
    expect((await replay({ from: at(0) }).expect(202)).body).toEqual({ events: 4 });
    await waitFor(() => receiver.ids().length === 6, 'the second replay');
    expect(receiver.ids().slice(2).sort()).toEqual(events.map(({ id }) => id).sort());
    expect((await replay({ from: at(30) }).expect(202)).body).toEqual({ events: 0 });
    for (const body of [
      {},
      { from: 'yesterday' },
      { from: at(2), to: at(1) },
      { from: at(1), until: at(2) },
      { from: '2026-01-01T00:00:00' },
    ])
      await replay(body).expect(400);
    await waitFor(
      async () => expect(await world.database.query('select from webhook_replays')).toHaveLength(0),
      'the end of the replays',
    );
  });
});
