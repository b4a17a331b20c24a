import { RESOLVE_ACCOUNTS, RESOLVE_BRANDS } from '@perkway/domain';
import { NatsService, RpcClient } from '@perkway/platform';
import { anAccountId, testNats, type LaunchedApp, type TestDatabase, type TestNats } from '@perkway/testing';
import { ADMIN_KEY, client, launchTokenIssuer, tokenIssuerDatabase, type Client } from './launch';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('accounts', () => {
  let database: TestDatabase;
  let nats: TestNats;
  let issuer: LaunchedApp;
  let admin: ReturnType<Client['as']>;

  beforeAll(async () => {
    [database, nats] = await Promise.all([tokenIssuerDatabase(), testNats()]);
    issuer = await launchTokenIssuer({ database, nats });
    admin = client(issuer.url).as(ADMIN_KEY);
  });
  afterAll(async () => {
    await issuer?.close();
    await Promise.all([database?.close(), nats?.close()]);
  });

  const put = (id: string, body: string | object) => admin('put', `/admin/accounts/${id}`).send(body);

  it('are made, replaced as a whole, and the same PUT changes nothing', async () => {
    const id = anAccountId();
    const full = {
      name: 'Ostervale Bank',
      allowed_origins: ['https://app.ostervale.example', 'http://localhost:8080'],
      brand: { name: 'Ostervale', color: '#0f5c4c', logo: PIXEL },
    };
    await put(id, full).expect(200, { id, ...full });
    await put(id, full).expect(200, { id, ...full });
    await put(id, { name: 'Ostervale' }).expect(200, {
      id,
      name: 'Ostervale',
      allowed_origins: [],
      brand: null,
    });
    expect(
      await database.query('select name, allowed_origins, brand from accounts where id = $1', [id]),
    ).toEqual([{ name: 'Ostervale', allowed_origins: [], brand: null }]);
  });

  it('keep origins as browsers send them, each once, and colours in one case', async () => {
    const { body } = await put(anAccountId(), {
      name: 'Shop',
      allowed_origins: ['HTTPS://Shop.Example:443', 'https://shop.example', 'https://bücher.example'],
      brand: { name: 'Shop', color: '#ABCDEF' },
    }).expect(200);
    expect(body.allowed_origins).toEqual(['https://shop.example', 'https://xn--bcher-kva.example']);
    expect(body.brand).toEqual({ name: 'Shop', color: '#abcdef', logo: null });
  });

  it('are told apart by case, and may have any legal id', async () => {
    const id = anAccountId();
    await put(id, { name: 'lower' }).expect(200);
    await put(id.toUpperCase(), { name: 'UPPER' }).expect(200);
    expect(
      await database.query('select name from accounts where lower(id) = $1 order by name collate "C"', [id]),
    ).toEqual([{ name: 'UPPER' }, { name: 'lower' }]);
    for (const legal of ['a', '__proto__', 'constructor', '-._', 'x'.repeat(100)])
      expect((await put(legal, { name: 'legal' }).expect(200)).body.id).toBe(legal);
  });

  it.each(['x'.repeat(101), 'a%20b', 'a%2Fb', '%00', 'ü', 'a%0A'])('refuse the id %j', async (id) => {
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
    ['brand.color', brand({ color: 'blue' })],
    ['brand.color', brand({ color: '#fff' })],
    // Neither white nor the page's black reaches 4.5:1 on it.
    ['brand.color', brand({ color: '#777777' })],
    ['brand.logo', brand({ logo: 'https://shop.example/logo.png' })],
    ['brand.logo', brand({ logo: 'data:text/html;base64,PGI+' })],
    ['brand.logo', brand({ logo: `data:image/png;base64,${Buffer.from('no image').toString('base64')}` })],
    ['brand.logo', brand({ logo: svg(`<svg>${' '.repeat(64 * 1024)}</svg>`) })],
  ])('refuse a wrong %s', async (field, body) => {
    const { body: problem } = await put(anAccountId(), body).expect(400);
    expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field }] });
    expect(problem.detail).toContain(field);
  });

  it('refuse a body that is no object', async () => {
    for (const body of ['[]', '"text"', '7', 'null', '{bad', '']) {
      const { body: problem } = await put(anAccountId(), body)
        .set('Content-Type', 'application/json')
        .expect(400);
      expect(problem.code).toBe('VALIDATION_FAILED');
    }
    await put(anAccountId(), 'name=x').set('Content-Type', 'application/x-www-form-urlencoded').expect(415);
    await put(anAccountId(), { name: 'x', padding: 'x'.repeat(1024 * 1024) }).expect(413);
  });

  it('take a logo of the largest size', async () => {
    const logo = svg(`<svg>${' '.repeat(64 * 1024 - 11)}</svg>`);
    const { body } = await put(anAccountId(), brand({ logo })).expect(200);
    expect(body.brand.logo).toBe(logo);
  });

  it('are for ADMIN keys only', async () => {
    const id = anAccountId();
    await put(id, { name: 'x' }).expect(200);
    const { body: user } = await admin('post', `/admin/accounts/${id}/keys`)
      .send({ role: 'USER' })
      .expect(201);
    const { as, anonymous } = client(issuer.url);
    await as(user.key)('put', `/admin/accounts/${id}`)
      .send('{bad')
      .set('Content-Type', 'application/json')
      .expect(403);
    await anonymous('put', `/admin/accounts/${id}`).send({ name: 'x' }).expect(401);
    await anonymous('put', `/admin/accounts/${id}?api_key=${ADMIN_KEY}`).send({ name: 'x' }).expect(401);
  });

  it('are known to the other apps over NATS, and so are their brands', async () => {
    const id = anAccountId();
    await put(id, {
      name: 'Known',
      allowed_origins: ['https://a.example'],
      brand: { name: 'K', logo: PIXEL },
    });
    await issuer.app.get(NatsService).connected();
    const plain = anAccountId();
    await put(plain, { name: 'Plain' });
    const rpc = issuer.app.get(RpcClient);
    const ids = [id, plain, 'nobody', 'a\'"'];
    expect(await rpc.ask(RESOLVE_ACCOUNTS, { ids })).toEqual({
      [id]: { name: 'Known', allowedOrigins: ['https://a.example'] },
      [plain]: { name: 'Plain', allowedOrigins: [] },
    });
    expect(await rpc.ask(RESOLVE_BRANDS, { ids })).toEqual({
      [id]: { name: 'K', color: null, logo: PIXEL },
      [plain]: null,
    });
  });
});
