import { BundledApp, http, waitFor } from '@perkway/testing';
import { aGroup, PerksFixture } from './perks-fixture.js';

describe('single-use codes', () => {
  let perks: PerksFixture;
  beforeAll(async () => {
    perks = await PerksFixture.start();
  });
  afterAll(() => perks?.close());

  const codes = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => `CODE-${String(from + index).padStart(5, '0')}`);
  /** A single-use perk with this many codes, in a collection of its own. */
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
    it('are counted, duplicates too, also inside one request', async () => {
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

    it('come in by the ten thousand, also the same ones at the same time', async () => {
      const { perk } = await stocked(0);
      const many = codes(10_000);
      const answers = await Promise.all([
        load(perk, many),
        load(perk, [...many].reverse()),
        load(perk, many),
      ]);
      const imported = answers.reduce((sum, { body }) => sum + body.imported, 0);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(imported).toBe(10_000);
      expect(await stock(perk)).toEqual({ loaded: 10_000, allocated: 0, left: 10_000 });
    });

    it('are refused for other perks and with wrong values', async () => {
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

  describe('asked for by a client', () => {
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

    it('know a customer by account and perk, in whichever collection', async () => {
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

    it('are refused with wrong values and for what is not there', async () => {
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
      // The key in the query is for reads only.
      await http(perks.app).post(`${path}?api_key=${perks.user.key}`).expect(401);
    });

    it('reach exactly 150 of 200 customers who ask at the same time', async () => {
      const { perk, path } = await stocked(150);
      const customers = Array.from({ length: 200 }, (_, index) => `customer-${index}`);
      const answers = await Promise.all(customers.map((customer) => allocate(path, customer)));
      const served = answers.filter(({ status }) => status === 201);
      const refused = answers.filter(({ status }) => status === 409);
      expect(served).toHaveLength(150);
      expect(refused).toHaveLength(50);
      expect(new Set(served.map(({ body }) => body.code)).size).toBe(150);
      for (const { body } of refused) expect(body.code).toBe('NO_AVAILABLE_CODES');
      expect(await stock(perk)).toEqual({ loaded: 150, allocated: 150, left: 0 });
      const again = await Promise.all(customers.map((customer) => allocate(path, customer)));
      expect(again.map(({ status, body }) => [status === 200 ? 201 : status, body.code])).toEqual(
        answers.map(({ status, body }) => [status, body.code]),
      );
    });

    it('are one only for a customer who asks many times at once, down to the last code', async () => {
      const { perk, path } = await stocked(2);
      const impatient = Array.from({ length: 20 }, () => allocate(path, 'impatient'));
      const [answers, other] = await Promise.all([Promise.all(impatient), allocate(path, 'other')]);
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(19).fill(200), 201]);
      expect(new Set(answers.map(({ body }) => body.code)).size).toBe(1);
      // A code that the repeated requests held for a moment is not "none left" for somebody else.
      expect(other.status).toBe(201);
      expect(await stock(perk)).toEqual({ loaded: 2, allocated: 2, left: 0 });
    });

    it('are found by the index of free codes, however many are gone', async () => {
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

    it('are in no log line', async () => {
      const { path } = await stocked(1);
      const { body } = await allocate(path, 'secretive-customer').expect(201);
      await allocate(path, 'one-too-many').expect(409);
      const logs = perks.app.logs.join('');
      expect(logs).toContain('/coupon');
      for (const secret of [body.code, 'CODE-0', 'secretive-customer', perks.user.key])
        expect(logs).not.toContain(secret);
    });
  });

  it('survive a kill in the middle: every customer has one code or none, and gets it again', async () => {
    const { perk, path } = await stocked(150);
    const customers = Array.from({ length: 200 }, (_, index) => `customer-${index}`);
    const bundle = await BundledApp.build('perks');
    const app = await (await bundle.spawn(perks.environment)).ready();
    const ask = async (of: { url: string }, customer: string): Promise<{ status: number; code?: string }> => {
      try {
        const { status, body } = await http(of, perks.user).post(path).send({ customer_id: customer });
        return { status, code: body.code };
      } catch {
        return { status: 0 };
      }
    };
    const asking = customers.map((customer) => ask(app, customer));
    await waitFor(async () => (await stock(perk)).allocated >= 20, 'the first codes');
    await app.kill('SIGKILL');
    const first = await Promise.all(asking);
    const { allocated } = await stock(perk);
    const answered = first.filter(({ status }) => status === 201);
    expect(first.some(({ status }) => status === 0)).toBe(true);
    expect(allocated).toBeGreaterThanOrEqual(answered.length);
    expect(allocated).toBeLessThan(200);

    const again = await Promise.all(customers.map((customer) => ask(perks.app, customer)));
    expect(again.filter(({ status }) => status === 200)).toHaveLength(allocated);
    expect(again.filter(({ status }) => status === 201)).toHaveLength(150 - allocated);
    expect(again.filter(({ status }) => status === 409)).toHaveLength(50);
    const codesOf = again.filter(({ status }) => status < 300).map(({ code }) => code);
    expect(new Set(codesOf).size).toBe(150);
    // Whoever had got an answer has the same code now.
    for (const [index, { status, code }] of first.entries())
      if (status === 201) expect(again[index]).toEqual({ status: 200, code });
  });
});
