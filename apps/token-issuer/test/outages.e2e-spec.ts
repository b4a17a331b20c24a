import {
  closeAll,
  http,
  waitFor,
  testDatabaseServer,
  tcpProxy,
  testNats,
  type LaunchedApp,
  type TcpProxy,
  type TestNats,
} from '@perkway/testing';
import { ADMIN_KEY, launchTokenIssuer, migrate } from './launch';

describe('token-issuer during outages', () => {
  let database: Awaited<ReturnType<typeof testDatabaseServer>>;
  let nats: TestNats;
  let way: TcpProxy;
  let issuer: LaunchedApp;
  let admin: ReturnType<typeof http>;

  beforeAll(async () => {
    [database, nats] = await Promise.all([testDatabaseServer('token-issuer', migrate), testNats()]);
    way = await tcpProxy(database.url);
    issuer = await launchTokenIssuer({ nats }, { DATABASE_URL: way.through(database.url) });
    admin = http(issuer, { key: ADMIN_KEY });
  });
  afterAll(() => closeAll(issuer, way, database, nats));

  const untilReady = () =>
    waitFor(async () => void (await http(issuer).get('/readyz').expect(200)), 'readiness');
  const backToWork = async () => {
    const token = () => admin.get('/cube/token?clientId=platform');
    await waitFor(async () => (await token()).status === 200, 'a token');
  };

  it('issues tokens without a broker', async () => {
    await nats.kill();
    try {
      await admin.get('/cube/token').expect(200);
      await admin.put('/admin/accounts/acme').send({ name: 'Acme' }).expect(200);
      await untilReady();
    } finally {
      await nats.restart();
    }
  });

  it('starts without a broker', async () => {
    await nats.kill();
    try {
      const other = await launchTokenIssuer({ database, nats });
      try {
        await http(other, { key: ADMIN_KEY }).get('/cube/token').expect(200);
      } finally {
        await other.close();
      }
    } finally {
      await nats.restart();
    }
  });

  for (const [what, away, back] of [
    ['has died', () => database.server.kill(), () => database.server.start()],
    ['is out of reach', async () => way.freeze(), async () => way.thaw()],
  ] as const)
    it(`responds with 503 within seconds while Postgres ${what}, still serves known keys, and recovers`, async () => {
      await admin.get('/cube/token').expect(200);
      await away();
      try {
        // The key is cached, and issuing a token needs no database.
        await admin.get('/cube/token').expect(200);
        await http(issuer).get('/cube/token').expect(401);
        const sentAt = Date.now();
        const responses = await Promise.all([
          admin.get('/cube/token?clientId=platform'),
          admin.put('/admin/accounts/acme').send({ name: 'Acme' }),
          admin.get('/admin/accounts/platform/keys'),
          admin.post('/admin/accounts/platform/keys').send({ role: 'USER' }),
          http(issuer, { key: 'a-key-nobody-has-seen' }).get('/cube/token'),
        ]);
        expect(Date.now() - sentAt).toBeLessThan(20_000);
        for (const { status, headers, body } of responses) {
          expect(status).toBe(503);
          expect(headers['retry-after']).toBe('2');
          expect(body).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', status: 503 });
        }
        await http(issuer).get('/readyz').expect(503);
        await http(issuer).get('/livez').expect(200);
        await http(issuer).get('/.well-known/jwks.json').expect(200);
      } finally {
        await back();
      }
      await backToWork();
      await untilReady();
    });
});
