import { COUNT_CODES_OF_CUSTOMER, daysLeft, LIST_LOW_CODES } from '@perkway/domain';
import { BundledApp, http, rpcCaller, untilServed, waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { aGroup, aPerk, PerksFixture } from './perks-fixture.js';

describe('single-use codes', () => {
  let perks: PerksFixture;
  beforeAll(async () => {
    perks = await PerksFixture.start();
  });
  afterAll(() => perks?.close());

  const codes = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => `CODE-${String(from + index).padStart(5, '0')}`);
  /** Creates a single-use perk with this many codes, in a collection of its own. */
  const stocked = async (count: number) => {
    const perk = await perks.putPerk({ is_coupon_perk: true });
    const collection = await perks.putCollection([aGroup('One', 1, [perk, 1])]);
    if (count > 0) await load(perk, codes(count)).expect(200);
    return { perk, collection, path: `/perk-collections/${collection}/perk/${perk}/coupon` };
  };
  const load = (perk: string, given: unknown) =>
    perks.post(`/admin/perks/${perk}/coupon-codes`, { codes: given }, { key: perks.admin });
  const stock = async (perk: string) =>
    (await perks.get(`/admin/perks/${perk}/coupon-codes`, { key: perks.admin }).expect(200)).body;
  const allocate = (path: string, customer: unknown, key = perks.user) =>
    perks.post(path, { customer_id: customer }, { key });

  describe('loaded by an ADMIN', () => {
    it('are counted, including duplicates inside one request', async () => {
      const { perk } = await stocked(0);
      expect(await stock(perk)).toEqual({ loaded: 0, allocated: 0, left: 0 });
      expect((await load(perk, ['A', 'B', 'A']).expect(200)).body).toEqual({ imported: 2, duplicates: 1 });
      expect((await load(perk, ['B', 'C', 'a']).expect(200)).body).toEqual({ imported: 2, duplicates: 1 });
      expect(await stock(perk)).toEqual({ loaded: 4, allocated: 0, left: 4 });
      // Another perk may have the same codes.
      expect((await load((await stocked(0)).perk, ['A']).expect(200)).body).toEqual({
        imported: 1,
        duplicates: 0,
      });
    });

    it('load 10,000 at a time, even the same ones concurrently', async () => {
      const { perk } = await stocked(0);
      const many = codes(10_000);
      const responses = await Promise.all([
        untilServed(() => load(perk, many)),
        untilServed(() => load(perk, [...many].reverse())),
        untilServed(() => load(perk, many)),
      ]);
      const imported = responses.reduce((sum, { body }) => sum + body.imported, 0);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(imported).toBe(10_000);
      expect(await stock(perk)).toEqual({ loaded: 10_000, allocated: 0, left: 10_000 });
    });

    it('are rejected for other perks and for invalid values', async () => {
      const plain = await perks.putPerk();
      expect((await load(plain, ['A']).expect(400)).body.code).toBe('PERK_HAS_NO_CODES');
      expect((await load('unknown', ['A']).expect(404)).body.code).toBe('PERK_NOT_FOUND');
      await perks.get(`/admin/perks/${plain}/coupon-codes`, { key: perks.admin }).expect(400);
      await perks.get('/admin/perks/unknown/coupon-codes', { key: perks.admin }).expect(404);
      const { perk } = await stocked(0);
      for (const wrong of [undefined, [], 'A', ['A', ''], ['A', 7], ['x'.repeat(256)], ['A\0'], [null], {}]) {
        const { body } = await load(perk, wrong).expect(400);
        expect(body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'codes' }] });
      }
      expect(await stock(perk)).toEqual({ loaded: 0, allocated: 0, left: 0 });
    });
  });

  describe('allocated to customers', () => {
    it('go to one customer each, who gets the same code again', async () => {
      const { perk, path } = await stocked(2);
      const { body, headers } = await allocate(path, 'customer 1 ✓').expect(201);
      expect(headers['cache-control']).toBe('no-store');
      expect(body).toEqual({
        code: expect.stringMatching(/^CODE-/),
        perk_id: perk,
        customer_id: 'customer 1 ✓',
        allocated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
      expect((await allocate(path, 'customer 1 ✓').expect(200)).body).toEqual(body);
      const { body: other } = await allocate(path, 'customer 2').expect(201);
      expect(other.code).not.toBe(body.code);
      const { body: none } = await allocate(path, 'customer 3').expect(409);
      expect(none.code).toBe('NO_AVAILABLE_CODES');
      expect((await allocate(path, 'customer 1 ✓').expect(200)).body).toEqual(body);
      expect(await stock(perk)).toEqual({ loaded: 2, allocated: 2, left: 0 });
      await load(perk, ['LATE']).expect(200);
      expect((await allocate(path, 'customer 3').expect(201)).body.code).toBe('LATE');
    });

    it('identify a customer by account and perk, in any collection', async () => {
      const { perk, path } = await stocked(3);
      const elsewhere = await perks.putCollection([aGroup('Two', 1, [perk, 1])]);
      const foreign = perks.newId('collection');
      await perks
        .put(`/admin/perk-collections/${foreign}`, {
          owner: perks.stranger.account,
          groups: [aGroup('Three', 1, [perk, 1])],
        })
        .expect(200);
      const { body } = await allocate(path, 'x').expect(201);
      expect(
        (await allocate(`/perk-collections/${elsewhere}/perk/${perk}/coupon`, 'x').expect(200)).body,
      ).toEqual(body);
      const { body: other } = await allocate(
        `/perk-collections/${foreign}/perk/${perk}/coupon`,
        'x',
        perks.stranger,
      ).expect(201);
      expect(other.code).not.toBe(body.code);
    });

    it('are rejected for invalid values and unknown resources', async () => {
      const { collection, path } = await stocked(1);
      const plain = await perks.putPerk();
      const shelf = await perks.putCollection([aGroup('One', 1, [plain, 1])]);
      for (const wrong of [undefined, null, '', 7, {}, ['x'], 'x'.repeat(256), 'a\0', '\ud800']) {
        const { body } = await allocate(path, wrong).expect(400);
        expect(body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'customer_id' }] });
      }
      await allocate(path, '😀'.repeat(255)).expect(201);
      const code = async (address: string, key = perks.user) => {
        const { body, status } = await allocate(address, 'x', key);
        return [status, body.code];
      };
      expect(await code(`/perk-collections/${shelf}/perk/${plain}/coupon`)).toEqual([
        400,
        'PERK_HAS_NO_CODES',
      ]);
      expect(await code(`/perk-collections/${collection}/perk/${plain}/coupon`)).toEqual([
        404,
        'PERK_NOT_FOUND',
      ]);
      expect(await code(path, perks.stranger)).toEqual([404, 'COLLECTION_NOT_FOUND']);
      expect(await code(`/perk-collections/unknown/perk/${plain}/coupon`)).toEqual([
        404,
        'COLLECTION_NOT_FOUND',
      ]);
      // A key in the query string is for reads only.
      await http(perks.app).post(`${path}?api_key=${perks.user.key}`).expect(401);
    });

    it('reach exactly 150 of 200 concurrent customers', async () => {
      const { perk, path } = await stocked(150);
      const customers = Array.from({ length: 200 }, (_, index) => `customer-${index}`);
      const allocateToAll = () =>
        Promise.all(customers.map((customer) => untilServed(() => allocate(path, customer))));
      const responses = await allocateToAll();
      const served = responses.filter(({ status }) => status === 201);
      const refused = responses.filter(({ status }) => status === 409);
      expect(served).toHaveLength(150);
      expect(refused).toHaveLength(50);
      expect(new Set(served.map(({ body }) => body.code)).size).toBe(150);
      for (const { body } of refused) expect(body.code).toBe('NO_AVAILABLE_CODES');
      expect(await stock(perk)).toEqual({ loaded: 150, allocated: 150, left: 0 });
      const again = await allocateToAll();
      expect(again.map(({ status, body }) => [status === 200 ? 201 : status, body.code])).toEqual(
        responses.map(({ status, body }) => [status, body.code]),
      );
    });

    it('give a customer with many concurrent requests a single code, even the last one', async () => {
      const { perk, path } = await stocked(2);
      const hurried = Array.from({ length: 20 }, () => allocate(path, 'impatient'));
      const [responses, other] = await Promise.all([Promise.all(hurried), allocate(path, 'other')]);
      expect(responses.map(({ status }) => status).sort()).toEqual([...Array<number>(19).fill(200), 201]);
      expect(new Set(responses.map(({ body }) => body.code)).size).toBe(1);
      // A code that a repeated request held for a moment still counts as available to another customer.
      expect(other.status).toBe(201);
      expect(await stock(perk)).toEqual({ loaded: 2, allocated: 2, left: 0 });
    });

    it('never exceed codes_per_account, even with concurrent requests', async () => {
      const { perk, path } = await stocked(30);
      await perks.putPerk({ is_coupon_perk: true, codes_per_account: 7 }, perk);
      expect((await perks.get(`/admin/perks/${perk}`, { key: perks.admin })).body.codes_per_account).toBe(7);
      const foreign = perks.newId('collection');
      await perks
        .put(`/admin/perk-collections/${foreign}`, {
          owner: perks.stranger.account,
          groups: [aGroup('Three', 1, [perk, 1])],
        })
        .expect(200);
      const theirs = `/perk-collections/${foreign}/perk/${perk}/coupon`;
      const sendRequest = (address: string, key = perks.user) =>
        Promise.all(Array.from({ length: 20 }, (_, at) => allocate(address, `customer-${at >> 1}`, key)));
      const [own, others] = await Promise.all([sendRequest(path), sendRequest(theirs, perks.stranger)]);
      for (const responses of [own, others]) {
        const served = responses.filter(({ status }) => status < 300);
        expect(new Set(served.map(({ body }) => body.code)).size).toBe(7);
        for (const { status, body } of responses.filter((response) => !served.includes(response)))
          expect([status, body.code]).toEqual([409, 'NO_AVAILABLE_CODES']);
      }
      expect(await stock(perk)).toEqual({ loaded: 30, allocated: 14, left: 16 });
      // A quota below the number already allocated: customers keep their codes.
      await perks.putPerk({ is_coupon_perk: true, codes_per_account: 1 }, perk);
      const [first] = own.filter(({ status }) => status === 201);
      expect((await allocate(path, first!.body.customer_id).expect(200)).body).toEqual(first!.body);
      await allocate(path, 'new').expect(409);
      await perks.putPerk({ is_coupon_perk: true }, perk);
      await allocate(path, 'new').expect(201);
      for (const wrong of [0, -1, 1.5, '7', 2e9]) {
        const { body } = await perks
          .put(`/admin/perks/${perk}`, aPerk({ is_coupon_perk: true, codes_per_account: wrong }))
          .expect(400);
        expect(body.errors).toMatchObject([{ field: 'codes_per_account' }]);
      }
      await perks.put(`/admin/perks/${perk}`, aPerk({ codes_per_account: 1 })).expect(400);
    });

    /** Calls `start` while another transaction locks all codes, and rolls that back once `count` requests wait. */
    const whileHeld = async <Result>(perk: string, count: number, start: () => Promise<Result>) => {
      const holder = new pg.Client(perks.database.urls.admin);
      await holder.connect();
      try {
        await holder.query('begin');
        await holder.query('select from catalog.coupon_codes where perk_id = $1 for update', [perk]);
        const result = start();
        await waitFor(async () => {
          // Use another connection: inside the holder's transaction, the statistics view stays as first read.
          const waiting = await perks.database.query(
            "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          );
          expect(waiting).toHaveLength(count);
        }, 'the waiting requests');
        await holder.query('rollback');
        return await result;
      } finally {
        await holder.end();
      }
    };

    it('never exceed codes_per_account if several customers wait for codes', async () => {
      const { perk, path } = await stocked(100);
      await perks.putPerk({ is_coupon_perk: true, codes_per_account: 1 }, perk);
      const responses = await whileHeld(perk, 4, () =>
        Promise.all(Array.from({ length: 4 }, (_, at) => allocate(path, `customer-${at}`))),
      );
      expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    });

    it('wait for the last code while a transaction that may fail holds it', async () => {
      const { perk, path } = await stocked(1);
      const { status } = await whileHeld(perk, 1, async () => await allocate(path, 'waiting'));
      expect(status).toBe(201);
    });

    it('are found by the index of free codes, however many are allocated', async () => {
      const { perk } = await stocked(0);
      await perks.database.query(
        `insert into coupon_codes (perk_id, code, pick, account, customer_id, allocated_at)
         select $1, 'GONE-' || n, null, 'acme', 'c' || n, now() from generate_series(1, 20000) n`,
        [perk],
      );
      await load(perk, codes(1_000)).expect(200);
      await perks.database.query('analyze coupon_codes');
      const plan = await perks.database.query<{ 'QUERY PLAN': string }>(
        `explain select id from coupon_codes where perk_id = '${perk}' and pick >= 0.5
         order by pick limit 1 for update skip locked`,
      );
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      expect(text).toContain('Index Scan using coupon_codes_free');
      expect(text).not.toContain('Sort');
    });

    it('appear in no log line', async () => {
      const { path } = await stocked(1);
      const { body } = await allocate(path, 'secretive-customer').expect(201);
      await allocate(path, 'one-too-many').expect(409);
      const logs = perks.app.logs.join('');
      expect(logs).toContain('/coupon');
      for (const secret of [body.code, 'CODE-0', 'secretive-customer', perks.user.key])
        expect(logs).not.toContain(secret);
    });
  });

  it('survive a kill during allocation: every customer has at most one code and gets it again', async () => {
    const { perk, path } = await stocked(150);
    const customers = Array.from({ length: 200 }, (_, index) => `customer-${index}`);
    const bundle = await BundledApp.build('perks');
    const app = await bundle.spawn(perks.environment);
    const sendRequest = async (
      of: { url: string },
      customer: string,
    ): Promise<{ status: number; code?: string }> => {
      try {
        const { status, body } = await http(of, perks.user).post(path).send({ customer_id: customer });
        return { status, code: body.code };
      } catch {
        return { status: 0 };
      }
    };
    let allocating: Promise<{ status: number; code?: string }>[];
    try {
      await app.ready();
      allocating = customers.map((customer) => sendRequest(app, customer));
      await waitFor(async () => (await stock(perk)).allocated >= 20, 'the first codes');
    } finally {
      await app.kill('SIGKILL');
    }
    const first = await Promise.all(allocating);
    const { allocated } = await stock(perk);
    const acknowledged = first.filter(({ status }) => status === 201);
    expect(first.some(({ status }) => status === 0)).toBe(true);
    expect(allocated).toBeGreaterThanOrEqual(acknowledged.length);
    expect(allocated).toBeLessThan(200);

    const again = await Promise.all(customers.map((customer) => sendRequest(perks.app, customer)));
    expect(again.filter(({ status }) => status === 200)).toHaveLength(allocated);
    expect(again.filter(({ status }) => status === 201)).toHaveLength(150 - allocated);
    expect(again.filter(({ status }) => status === 409)).toHaveLength(50);
    const codesOf = again.filter(({ status }) => status < 300).map(({ code }) => code);
    expect(new Set(codesOf).size).toBe(150);
    // Every acknowledged code is still the customer's.
    for (const [index, { status, code }] of first.entries())
      if (status === 201) expect(again[index]).toEqual({ status: 200, code });
  });

  it('are low while fewer than 50 are left, or while they last fewer than 14 days', async () => {
    const [few, fast, slow] = [await stocked(49), await stocked(60), await stocked(60)];
    await stocked(0);
    for (const { path } of [fast, slow])
      for (let nth = 0; nth < 5; nth += 1) await allocate(path, `low-${nth}`).expect(201);
    // The rate covers the age of a perk: 5 in 1 day for `fast`, 5 in 10 days for `slow`.
    await perks.database.query(
      `update perks set created_at = now() - interval '10 days' where id = any ($1)`,
      [[few.perk, slow.perk]],
    );
    const { rpc, close } = await rpcCaller(perks.nats.url);
    try {
      const { stocks } = await rpc.request(LIST_LOW_CODES, {});
      const own = stocks.filter(({ perk }) => [few, fast, slow].some((stock) => stock.perk === perk));
      expect(own).toEqual([
        { perk: fast.perk, title: 'Two for one', available: 55, used: 5, days: 1 },
        { perk: few.perk, title: 'Two for one', available: 49, used: 0, days: expect.closeTo(10, 1) },
      ]);
      expect(own.map(daysLeft)).toEqual([null, null]);
    } finally {
      await close();
    }
  });

  it('are counted per customer, over all perks of one account, also deleted ones', async () => {
    const customer = randomUUID();
    const stock = [await stocked(2), await stocked(2)] as const;
    for (const { path } of stock) {
      await allocate(path, customer).expect(201);
      await allocate(path, randomUUID()).expect(201);
    }
    for (const path of [`perk-collections/${stock[0].collection}`, `perks/${stock[0].perk}`])
      await perks.delete(`/admin/${path}`).expect(204);
    const { rpc, close } = await rpcCaller(perks.nats.url);
    try {
      const count = (account: string) => rpc.request(COUNT_CODES_OF_CUSTOMER, { account, customer });
      expect([await count(perks.account), await count('another')]).toEqual([{ codes: 2 }, { codes: 0 }]);
    } finally {
      await close();
    }
  });
});
