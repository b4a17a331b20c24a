import type { LocalServer } from '@perkway/local-servers';
import { waitFor, type TestDatabase } from '@perkway/testing';
import { aGroup, aPerk, PerksFixture } from './perks-fixture.js';

describe('during outages', () => {
  let perks: PerksFixture;
  let postgres: LocalServer;
  let perk: string;
  let single: string;
  let warm: string;
  let cold: string;
  beforeAll(async () => {
    perks = await PerksFixture.start({ ownServer: true });
    postgres = (perks.database as TestDatabase & { server: LocalServer }).server;
    perk = await perks.putPerk();
    single = await perks.putPerk({ is_coupon_perk: true });
    warm = await perks.putCollection([aGroup('One', 1, [perk, 1], [single, 2])]);
    cold = await perks.putCollection([aGroup('One', 1, [perk, 1])]);
    await perks
      .post(`/admin/perks/${single}/coupon-codes`, { codes: ['A', 'B'] }, { key: perks.admin })
      .expect(200);
  });
  afterAll(() => perks?.close());
  beforeEach(async () => {
    await perks.forgetEvents();
    await perks.get('/perk-collections').expect(200);
    await perks.get(`/perk-collections/${warm}`).set('X-Disable-View-Tracking', 'true').expect(200);
  });

  const readWarm = async () => {
    await perks.get(`/perk-collections/${warm}`).expect(200);
    await perks.get(`/perk-collections/${warm}?location_country=FR&lang=fr`).expect(200);
    await perks.get(`/perk-collections/${warm}/perk/${perk}`).expect(200);
    await perks.get(`/perk-collections/${warm}/categories`).expect(200);
    expect((await perks.get('/perk-collections').expect(200)).body).toContain(warm);
    await perks.get(`/perk-collections/${warm}/perk/unknown`).expect(404);
  };
  const unavailable = async (response: PromiseLike<{ status: number; body: unknown; headers: object }>) => {
    const { status, body, headers } = await response;
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    expect(headers).toHaveProperty('retry-after');
  };

  it('serves reads from memory while Postgres hangs, without querying it', async () => {
    const backends = await perks.database.query<{ pid: number }>(
      "select pid from pg_stat_activity where usename = 'catalog'",
    );
    expect(backends).not.toHaveLength(0);
    const signal = (name: 'SIGSTOP' | 'SIGCONT') => backends.forEach(({ pid }) => process.kill(pid, name));
    // New connections hang too.
    postgres.pause();
    signal('SIGSTOP');
    try {
      let rounds = 0;
      // No read waits for a statement timeout, which is 5 s. Again if a busy machine needed longer.
      await waitFor(async () => {
        const startedAt = Date.now();
        rounds += 1;
        await readWarm();
        return Date.now() - startedAt < 5_000;
      }, 'reads that take less than 5 s');
      await waitFor(async () => {
        const views = await perks.viewsInStream();
        expect(views.map(({ perks: shown }) => shown)).toEqual(
          Array.from({ length: 3 * rounds }, () => [perk]),
        );
      }, 'the views');
    } finally {
      signal('SIGCONT');
      postgres.resume();
    }
    await waitFor(async () => (await perks.get(`/perk-collections/${cold}`)).status === 200, 'a response');
  });

  it('serves known reads while Postgres is down, responds with 503 otherwise, and recovers by itself', async () => {
    const unknown = `unread-${Date.now()}`;
    await postgres.kill();
    try {
      await readWarm();
      await unavailable(perks.get(`/perk-collections/${unknown}`));
      await unavailable(perks.post(`/perk-collections/${warm}/perk/${single}/coupon`, { customer_id: 'x' }));
      await unavailable(perks.put(`/admin/perks/${perk}`, aPerk()));
      await unavailable(perks.put('/admin/categories/1', { slug: 'x', name: 'X' }));
      await unavailable(perks.put(`/admin/perk-collections/${warm}`, { owner: perks.account, groups: [] }));
      // It stays ready, to keep serving reads from memory.
      await perks.get('/readyz').expect(200);
      expect((await perks.get('/metrics')).text).toMatch(/^database_available\{.*\} 0$/m);
    } finally {
      await postgres.start();
    }
    await waitFor(async () => (await perks.get(`/perk-collections/${unknown}`)).status === 404, 'a response');
    await perks.post(`/perk-collections/${warm}/perk/${single}/coupon`, { customer_id: 'x' }).expect(201);
    // Edits are visible again after the outage.
    await perks.putPerk({ title: 'After the outage' }, perk);
    expect((await perks.get(`/perk-collections/${warm}/perk/${perk}`).expect(200)).body.title).toBe(
      'After the outage',
    );
    expect((await perks.get('/metrics')).text).toMatch(/^database_available\{.*\} 1$/m);
  });

  it('keeps serving reads while NATS is down, and counts every view later', async () => {
    await perks.nats.kill();
    try {
      await readWarm();
      await unavailable(perks.put(`/admin/perk-collections/${warm}`, { owner: perks.account, groups: [] }));
      // Writing perks and categories needs no other app.
      await perks.putPerk({ title: 'While the broker was unavailable' }, perk);
      expect((await perks.get(`/perk-collections/${warm}/perk/${perk}`).expect(200)).body.title).toBe(
        'While the broker was unavailable',
      );
      expect(await perks.database.query('select 1 from tracking_outbox')).not.toHaveLength(0);
    } finally {
      await perks.nats.restart();
    }
    await waitFor(async () => (await perks.views()).length >= 4, 'four views');
    expect((await perks.views()).map(({ perks: shown }) => shown)).toEqual([[perk], [perk], [perk], [perk]]);
  });

  it('keeps serving reads while both are down', async () => {
    const since = Date.now();
    await Promise.all([perks.nats.kill(), postgres.kill()]);
    try {
      await readWarm();
    } finally {
      await Promise.all([perks.nats.restart(), postgres.start()]);
    }
    // If the database fails before the relay records a publish, the event is published again, also one of the test
    // before. It counts once.
    const views = async () =>
      new Set((await perks.views()).filter(({ at }) => at >= since).map(({ id }) => id));
    await waitFor(async () => (await views()).size >= 3, 'three views');
    expect((await views()).size).toBe(3);
  });
});
