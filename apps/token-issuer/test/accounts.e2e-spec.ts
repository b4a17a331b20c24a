import { RESOLVE_ACCOUNTS, RESOLVE_BRANDS } from '@perkway/domain';
import {
  closeAll,
  http,
  anAccountId,
  rpcCaller,
  behavesLikeAResource,
  testNats,
  type LaunchedApp,
  type TestKey,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { ADMIN_KEY, launchTokenIssuer, tokenIssuerDatabase } from './launch';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('accounts', () => {
  let database: TestDatabase;
  let nats: TestNats;
  let issuer: LaunchedApp;
  let admin: ReturnType<typeof http>;

  beforeAll(async () => {
    [database, nats] = await Promise.all([tokenIssuerDatabase(), testNats()]);
    issuer = await launchTokenIssuer({ database, nats });
    admin = http(issuer, { key: ADMIN_KEY });
  });
  afterAll(() => closeAll(issuer, database, nats));

  const put = (id: string, body: string | object) => admin.put(`/admin/accounts/${id}`).send(body);

  it('are created and replaced as a whole, and an identical PUT changes nothing', async () => {
    const id = anAccountId();
    const full = {
      name: 'Ostervale Bank',
      allowed_origins: ['https://app.ostervale.example', 'http://localhost:8080'],
      brand: {
        name: 'Ostervale',
        color: '#0f5c4c',
        logo: PIXEL,
        support_url: 'https://ostervale.example/help',
      },
    };
    for (let time = 0; time < 2; time += 1)
      expect((await put(id, full).expect(200)).body).toMatchObject({ id, ...full });
    expect((await put(id, { name: 'Ostervale' }).expect(200)).body).toMatchObject({
      id,
      name: 'Ostervale',
      allowed_origins: [],
      brand: null,
    });
    expect(
      await database.query('select name, allowed_origins, brand from accounts where id = $1', [id]),
    ).toEqual([{ name: 'Ostervale', allowed_origins: [], brand: null }]);
  });

  it('are not changed if the change cannot be logged first', async () => {
    const id = anAccountId();
    await database.query('alter table admin_log_outbox rename to missing');
    try {
      expect((await put(id, { name: 'Acme' })).status).toBe(500);
    } finally {
      await database.query('alter table missing rename to admin_log_outbox');
    }
    await admin.get(`/admin/accounts/${id}`).expect(404);
    await put(id, { name: 'Acme' }).expect(200);
  });

  it.each(['127.0.0.1', '::1'])(
    'log their state before a change also if the app listens on %s only',
    async (HOST) => {
      const id = anAccountId();
      await put(id, { name: 'Acme' }).expect(200);
      const other = await launchTokenIssuer({ database, nats }, { HOST });
      try {
        await http(other, { key: ADMIN_KEY }).put(`/admin/accounts/${id}`).send({ name: 'New' }).expect(200);
        const [entry] = await database.query<{ name: string }>(
          `select record->'before'->>'name' as name from admin_log_outbox
         where record->>'path' = $1 and record ? 'before' order by id desc`,
          [`/admin/accounts/${id}`],
        );
        expect(entry).toEqual({ name: 'Acme' });
      } finally {
        await other.close();
      }
    },
  );

  it('have thresholds for approvals, which are replaced as a whole', async () => {
    const id = anAccountId();
    const amount = [
      { currency: 'EUR', amount: 5000.5 },
      { currency: 'JPY', amount: 0 },
    ];
    for (const [approvals, stored] of [
      [
        { links: 500, amount },
        { links: 500, amount },
      ],
      [{ links: 0 }, { links: 0 }],
      [{ amount }, { amount }],
      [{ links: null, amount: [] }, null],
      [undefined, null],
    ]) {
      const { body } = await put(id, { name: 'Bank', approvals }).expect(200);
      expect(body.approvals).toEqual(stored);
      const read = await admin.get(`/admin/accounts/${id}`).expect(200);
      expect(read.body).toEqual(body);
      expect((await put(id, read.body).expect(200)).headers.etag).toBe(read.headers.etag);
    }
  });

  it('reject invalid thresholds for approvals', async () => {
    const euro = { currency: 'EUR', amount: 1 };
    for (const [field, approvals] of [
      ['approvals', 5],
      ['approvals.links', { links: -1 }],
      ['approvals.links', { links: 1.5 }],
      ['approvals.links', { links: 1e12 }],
      ['approvals.amount', { amount: euro }],
      ['approvals.amount', { amount: Array(51).fill(euro) }],
      ['approvals.amount.0', { amount: [null] }],
      ['approvals.amount.0.currency', { amount: [{ amount: 1 }] }],
      ['approvals.amount.0.currency', { amount: [{ currency: 'eur', amount: 1 }] }],
      ['approvals.amount.1.currency', { amount: [euro, euro] }],
      ['approvals.amount.0.amount', { amount: [{ currency: 'EUR', amount: -1 }] }],
      ['approvals.amount.0.amount', { amount: [{ currency: 'EUR', amount: 1e13 }] }],
      ['approvals.amount.0.amount', { amount: [{ currency: 'EUR', amount: 1.005 }] }],
      ['approvals.amount.0.amount', { amount: [{ currency: 'JPY', amount: 0.5 }] }],
      ['approvals.people', { people: 2 }],
    ] as const) {
      const { body } = await put(anAccountId(), { name: 'Bank', approvals }).expect(400);
      expect([approvals, body.errors[0].field]).toEqual([approvals, field]);
    }
  });

  describe('as managed resources', () => {
    let user: TestKey;
    beforeAll(async () => {
      const account = anAccountId();
      await put(account, { name: 'A client' }).expect(200);
      const { body } = await admin.post(`/admin/accounts/${account}/keys`).send({ role: 'USER' }).expect(201);
      user = { key: body.key, keyId: body.id, account, role: 'USER' };
    });

    behavesLikeAResource(() => ({
      app: issuer,
      admin: { key: ADMIN_KEY, keyId: '', account: 'platform', role: 'ADMIN' },
      user,
      path: '/admin/accounts',
      notFound: 'ACCOUNT_NOT_FOUND',
      newId: anAccountId,
      body: (number) => ({
        name: `Account ${number}`,
        allowed_origins: ['https://app.ostervale.example'],
        brand: { name: 'Ostervale', color: '#0f5c4c', logo: PIXEL },
        approvals: { links: 500 },
      }),
      unknownMembers: {
        title: (body) => ({ ...body, title: 'x' }),
        'brand.url': (body) => ({ ...body, brand: { name: 'x', url: 'https://x.example' } }),
      },
      canBeDeleted: false,
    }));

    it('are found by a part of their id or name', async () => {
      await put('Findable-bank', { name: 'Grüne & Söhne' }).expect(200);
      for (const q of ['FINDABLE', 'GRÜNE', 'e & s']) {
        const { body } = await admin.get(`/admin/accounts?q=${encodeURIComponent(q)}`).expect(200);
        expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['Findable-bank']);
      }
    });
  });

  it('store origins as browsers send them, each once, and colors in lower case', async () => {
    const { body } = await put(anAccountId(), {
      name: 'Shop',
      allowed_origins: ['HTTPS://Shop.Example:443', 'https://shop.example', 'https://bücher.example'],
      brand: { name: 'Shop', color: '#ABCDEF' },
    }).expect(200);
    expect(body.allowed_origins).toEqual(['https://shop.example', 'https://xn--bcher-kva.example']);
    expect(body.brand).toEqual({ name: 'Shop', color: '#abcdef', logo: null, support_url: null });
  });

  it('have case-sensitive ids, which may be any valid id', async () => {
    const id = anAccountId();
    await put(id, { name: 'lower' }).expect(200);
    await put(id.toUpperCase(), { name: 'UPPER' }).expect(200);
    expect(
      await database.query('select name from accounts where lower(id) = $1 order by name collate "C"', [id]),
    ).toEqual([{ name: 'UPPER' }, { name: 'lower' }]);
    for (const legal of ['a', '__proto__', 'constructor', '-._', 'x'.repeat(100)])
      expect((await put(legal, { name: 'legal' }).expect(200)).body.id).toBe(legal);
  });

  it.each(['x'.repeat(101), 'a%20b', 'a%2Fb', '%00', 'ü', 'a%0A'])('reject the id %j', async (id) => {
    const { body } = await put(encodeURI(decodeURIComponent(id)).replaceAll('/', '%2F'), {
      name: 'x',
    }).expect(400);
    expect(body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'accountId' }] });
  });

  const brand = (change: object) => ({ name: 'x', brand: { name: 'x', ...change } });
  const svg = (text: string) => `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`;
  it.each<[string, object]>([
    ['name', {}],
    ['name', { name: '' }],
    ['name', { name: 7 }],
    ['name', { name: 'x'.repeat(201) }],
    ['name', { name: 'a\0b' }],
    ['allowed_origins', { name: 'x', allowed_origins: 'https://shop.example' }],
    ['allowed_origins', { name: 'x', allowed_origins: ['https://shop.example/'] }],
    ['allowed_origins', { name: 'x', allowed_origins: ['https://shop.example/path'] }],
    ['allowed_origins', { name: 'x', allowed_origins: ['*'] }],
    ['allowed_origins', { name: 'x', allowed_origins: ['null'] }],
    ['allowed_origins', { name: 'x', allowed_origins: ['https://user@shop.example'] }],
    ['allowed_origins', { name: 'x', allowed_origins: ['ftp://shop.example'] }],
    ['allowed_origins', { name: 'x', allowed_origins: ['https://shop.example', null] }],
    ['allowed_origins', { name: 'x', allowed_origins: Array(101).fill('https://shop.example') }],
    ['brand', { name: 'x', brand: 'blue' }],
    ['brand', { name: 'x', brand: [] }],
    ['brand.name', { name: 'x', brand: { color: '#000000' } }],
    ['brand.support_url', brand({ support_url: 'javascript:alert(1)' })],
    ['brand.support_url', brand({ support_url: 'https://me:secret@shop.example' })],
    ['brand.color', brand({ color: 'blue' })],
    ['brand.color', brand({ color: '#fff' })],
    // Neither white nor the page's black reaches 4.5:1 on it.
    ['brand.color', brand({ color: '#777777' })],
    ['brand.logo', brand({ logo: 'https://shop.example/logo.png' })],
    ['brand.logo', brand({ logo: 'data:text/html;base64,PGI+' })],
    ['brand.logo', brand({ logo: `data:image/png;base64,${Buffer.from('no image').toString('base64')}` })],
    ['brand.logo', brand({ logo: svg(`<svg>${' '.repeat(64 * 1024)}</svg>`) })],
  ])('reject an invalid %s', async (field, body) => {
    const { body: problem } = await put(anAccountId(), body).expect(400);
    expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field }] });
    expect(problem.detail).toContain(field);
  });

  it('reject a body that is not an object', async () => {
    for (const body of ['[]', '"text"', '7', 'null', '{bad', '']) {
      const { body: problem } = await put(anAccountId(), body)
        .set('Content-Type', 'application/json')
        .expect(400);
      expect(problem.code).toBe('VALIDATION_FAILED');
    }
    await put(anAccountId(), 'name=x').set('Content-Type', 'application/x-www-form-urlencoded').expect(415);
    await put(anAccountId(), { name: 'x', padding: 'x'.repeat(1024 * 1024) }).expect(413);
  });

  it('accept a logo of the maximum size', async () => {
    const logo = svg(`<svg>${' '.repeat(64 * 1024 - 11)}</svg>`);
    const { body } = await put(anAccountId(), brand({ logo })).expect(200);
    expect(body.brand.logo).toBe(logo);
  });

  it('are for ADMIN keys only', async () => {
    const id = anAccountId();
    await put(id, { name: 'x' }).expect(200);
    const { body: user } = await admin.post(`/admin/accounts/${id}/keys`).send({ role: 'USER' }).expect(201);
    await http(issuer, user)
      .put(`/admin/accounts/${id}`)
      .send('{bad')
      .set('Content-Type', 'application/json')
      .expect(403);
    await http(issuer).put(`/admin/accounts/${id}`).send({ name: 'x' }).expect(401);
    await http(issuer).put(`/admin/accounts/${id}?api_key=${ADMIN_KEY}`).send({ name: 'x' }).expect(401);
  });

  it('and their brands are available to the other apps over NATS', async () => {
    const id = anAccountId();
    await put(id, {
      name: 'Known',
      allowed_origins: ['https://a.example'],
      brand: { name: 'K', logo: PIXEL },
    });
    const plain = anAccountId();
    await put(plain, { name: 'Plain' });
    const other = await rpcCaller(nats.url);
    const { rpc } = other;
    const ids = [id, plain, 'nobody', 'a\'"'];
    expect(await rpc.request(RESOLVE_ACCOUNTS, { ids })).toEqual({
      [id]: { name: 'Known', allowedOrigins: ['https://a.example'] },
      [plain]: { name: 'Plain', allowedOrigins: [] },
    });
    expect(await rpc.request(RESOLVE_BRANDS, { ids })).toEqual({
      [id]: { name: 'K', color: null, logo: PIXEL, support_url: null },
      [plain]: null,
    });
    await other.close();
  });
});
