import {
  anAccountId,
  aKey,
  http,
  testNats,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { ADMIN_KEY, launchTokenIssuer, tokenIssuerDatabase } from './launch';

describe('the people of an account', () => {
  let database: TestDatabase;
  let nats: TestNats;
  let issuer: LaunchedApp;

  beforeAll(async () => {
    [database, nats] = await Promise.all([tokenIssuerDatabase(), testNats()]);
    issuer = await launchTokenIssuer({ database, nats });
  });
  afterAll(async () => {
    await issuer?.close();
    await Promise.all([database?.close(), nats?.close()]);
  });

  const admin = () => http(issuer, { key: ADMIN_KEY });
  const anAccount = async () => {
    const id = anAccountId();
    await admin().put(`/admin/accounts/${id}`).send({ name: id }).expect(200);
    return `/admin/accounts/${id}/people`;
  };

  it('are stored, read and removed by case-insensitive address', async () => {
    const people = await anAccount();
    const ann = { email: 'ann.o+x@bank.example', role: 'USER' };
    await admin().get(`${people}/ann.o+x@bank.example`).expect(404);
    await admin().put(`${people}/Ann.O+X@Bank.Example`).send({ role: 'USER' }).expect(200, ann);
    await admin().get(`${people}/ann.o%2Bx%40BANK.example`).expect(200, ann);
    // A resource as read can be sent back in a PUT.
    await admin().put(`${people}/ann.o+x@bank.example`).send(ann).expect(200, ann);
    await admin()
      .put(`${people}/ANN.O+X@BANK.EXAMPLE`)
      .send({ role: 'ADMIN' })
      .expect(200, { ...ann, role: 'ADMIN' });
    await admin()
      .get(people)
      .expect(200, { data: [{ ...ann, role: 'ADMIN' }], next_cursor: null });
    await admin().delete(`${people}/ann.O+x@bank.example`).expect(204, '');
    for (const call of [admin().get(`${people}/${ann.email}`), admin().delete(`${people}/${ann.email}`)])
      expect((await call.expect(404)).body.code).toBe('PERSON_NOT_FOUND');
  });

  it('get no higher role from a key that expires, except USER in another account', async () => {
    const [operators, clients] = [await anAccount(), await anAccount()];
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await admin()
      .post(operators.replace('/people', '/keys'))
      .send({ role: 'ADMIN', expires_at })
      .expect(201);
    const put = (people: string, role: string, key = body.key) =>
      http(issuer, { key }).put(`${people}/eve@x.example`).send({ role });
    for (const [people, role] of [
      [operators, 'ADMIN'],
      [operators, 'USER'],
      [clients, 'ADMIN'],
    ] as const)
      expect((await put(people, role).expect(403)).body.code).toBe('KEY_EXPIRES');
    // The people of clients outlive the operator's key, like the keys of clients.
    await put(clients, 'USER').expect(200);
    expect((await put(clients, 'ADMIN').expect(403)).body.code).toBe('KEY_EXPIRES');
    // The key may keep or lower a role that a key without an expiry has given.
    await put(operators, 'ADMIN', ADMIN_KEY).expect(200);
    await put(operators, 'ADMIN').expect(200);
    await put(operators, 'USER').expect(200);
    expect((await put(operators, 'ADMIN').expect(403)).body.code).toBe('KEY_EXPIRES');
  });

  it('may belong to several accounts independently', async () => {
    const [people, others] = [await anAccount(), await anAccount()];
    await admin().put(`${people}/ben@x.example`).send({ role: 'USER' }).expect(200);
    await admin().get(`${others}/ben@x.example`).expect(404);
    await admin().put(`${others}/ben@x.example`).send({ role: 'ADMIN' }).expect(200);
    await admin().delete(`${others}/ben@x.example`).expect(204);
    expect((await admin().get(`${people}/ben@x.example`).expect(200)).body.role).toBe('USER');
  });

  it('are listed by address in pages, with a cursor that only works for the same account', async () => {
    const [people, others] = [await anAccount(), await anAccount()];
    for (const name of ['d', 'b', 'a', 'c_', 'e'])
      await admin().put(`${people}/${name}@list.example`).send({ role: 'USER' }).expect(200);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await admin().get(`${people}?limit=2${cursor}`).expect(200);
      seen.push(...body.data.map(({ email }: { email: string }) => email[0]));
      cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : '';
      if (cursor) await admin().get(`${others}?limit=2${cursor}`).expect(400);
    } while (cursor);
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e']);
    const found = (await admin().get(`${people}?q=C_@L`).expect(200)).body.data;
    expect(found).toEqual([{ email: 'c_@list.example', role: 'USER' }]);
  });

  it('are rejected naming the invalid field, and for an unknown account', async () => {
    const people = await anAccount();
    for (const email of ['no-address', 'a@', '%00@x.example', `${'a'.repeat(250)}@x.example`]) {
      const { body } = await admin().put(`${people}/${email}`).send({ role: 'USER' }).expect(400);
      expect(body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'email' }] });
      expect((await admin().get(`${people}/${email}`).expect(404)).body.code).toBe('PERSON_NOT_FOUND');
    }
    for (const [body, field] of [
      [{}, 'role'],
      [{ role: 'JOURNEY' }, 'role'],
      [{ role: 'USER', name: 'x' }, 'name'],
    ] as const)
      expect((await admin().put(`${people}/a@x.example`).send(body).expect(400)).body.errors).toMatchObject([
        { field },
      ]);
    for (const call of [
      admin().put('/admin/accounts/nobody/people/a@x.example').send({ role: 'USER' }),
      admin().get('/admin/accounts/nobody/people/a@x.example'),
      admin().get('/admin/accounts/nobody/people'),
      admin().delete('/admin/accounts/nobody/people/a@x.example'),
    ])
      expect((await call.expect(404)).body.code).toBe('ACCOUNT_NOT_FOUND');
    await http(issuer, aKey()).get(people).expect(401);
  });
});
