import { GET_ANALYTICS_KEYS } from '@perkway/domain';
import {
  closeAll,
  http,
  anAccountId,
  rpcCaller,
  testNats,
  testUrls,
  waitFor,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import jwt from 'jsonwebtoken';
import { createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { ADMIN_KEY, launchTokenIssuer, tokenIssuerDatabase } from './launch';

const aTokenKey = (kid: string, more: object = {}) => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  kid,
  ...more,
});
const variables = (...keys: object[]) => ({ ANALYTICS_TOKEN_KEYS: JSON.stringify(keys) });

/** Verifies a token as the query host does, with the published keys. */
function verified(token: string, keys: (JsonWebKey & { kid: string })[]) {
  const { header } = jwt.decode(token, { complete: true })!;
  const key = createPublicKey({ key: keys.find(({ kid }) => kid === header.kid)!, format: 'jwk' });
  const claims = jwt.verify(token, key, {
    algorithms: ['ES256'],
    issuer: testUrls['token-issuer'],
    audience: testUrls['analytics-query'],
  }) as jwt.JwtPayload;
  return { header, claims };
}

describe('GET /cube/token', () => {
  let database: TestDatabase;
  let nats: TestNats;
  let issuer: LaunchedApp;
  let account: string;
  let userKey: string;

  beforeAll(async () => {
    [database, nats] = await Promise.all([tokenIssuerDatabase(), testNats()]);
    issuer = await launchTokenIssuer({ database, nats });
    account = anAccountId();
    await http(issuer, { key: ADMIN_KEY })
      .put(`/admin/accounts/${account}`)
      .send({ name: account })
      .expect(200);
    const { body } = await http(issuer, { key: ADMIN_KEY })
      .post(`/admin/accounts/${account}/keys`)
      .send({ role: 'USER' });
    userKey = body.key;
  });
  afterAll(() => closeAll(issuer, database, nats));

  const jwks = async (of = issuer) => (await http(of).get('/.well-known/jwks.json')).body.keys;

  it('returns a token of five minutes for the account of the key', async () => {
    const before = Date.now();
    const response = await http(issuer, { key: userKey.toUpperCase() }).get('/cube/token').expect(200);
    const after = Date.now();
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(Object.keys(response.body).sort()).toEqual(['expiration', 'serverTime', 'token']);

    const { token, expiration, serverTime } = response.body;
    const { header, claims } = verified(token, await jwks());
    expect(header).toEqual({ alg: 'ES256', typ: 'JWT', kid: 'k1' });
    expect(claims).toEqual({
      sub: account,
      role: 'USER',
      iss: testUrls['token-issuer'],
      aud: testUrls['analytics-query'],
      iat: serverTime.epoch_timestamp,
      exp: serverTime.epoch_timestamp + 300,
    });
    expect(expiration).toBe(claims.exp! * 1000);
    expect(serverTime.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const served = Date.parse(serverTime.timestamp);
    expect(served).toBeGreaterThanOrEqual(before);
    expect(served).toBeLessThanOrEqual(after);
    expect(serverTime.epoch_timestamp).toBe(Math.floor(served / 1000));
  });

  it('responds 401 without a valid key, before it validates the query', async () => {
    await http(issuer).get('/cube/token').expect(401);
    await http(issuer, { key: 'unknown-key-0123456789' }).get('/cube/token').expect(401);
    await http(issuer, { key: 'malformed' }).get('/cube/token').expect(401);
    await http(issuer).get(`/cube/token?api_key=${userKey}`).expect(401);
    await http(issuer).get(`/cube/token?clientId=${account}`).expect(401);
  });

  it('rejects clientId from a USER key, even its own, before it validates it', async () => {
    for (const clientId of [account, 'platform', 'nobody', 'not%20legal', '']) {
      const { body } = await http(issuer, { key: userKey })
        .get(`/cube/token?clientId=${clientId}`)
        .expect(403);
      expect(body.code).toBe('FORBIDDEN');
      expect(body.token).toBeUndefined();
    }
  });

  it('gives an ADMIN key a token for the account that clientId names', async () => {
    const admin = http(issuer, { key: ADMIN_KEY });
    const claimsOf = async (query: string) =>
      verified((await admin.get(`/cube/token${query}`).expect(200)).body.token, await jwks()).claims;
    expect(await claimsOf('')).toMatchObject({ sub: 'platform', role: 'ADMIN' });
    expect(await claimsOf(`?clientId=${account}`)).toMatchObject({ sub: account, role: 'ADMIN' });
    expect(await claimsOf(`?clientId=platform&clientId=${account}`)).toMatchObject({ sub: account });

    expect((await admin.get('/cube/token?clientId=nobody').expect(404)).body.code).toBe('ACCOUNT_NOT_FOUND');
    await admin.get(`/cube/token?clientId=${account.toUpperCase()}`).expect(404);
    for (const malformed of ['', 'not%20legal', 'x'.repeat(101), '%00']) {
      const { body } = await admin.get(`/cube/token?clientId=${malformed}`).expect(400);
      expect(body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'clientId' }] });
    }
  });

  it('publishes the public keys and nothing else', async () => {
    const response = await http(issuer).get('/.well-known/jwks.json').expect(200);
    expect(response.headers['cache-control']).toBe('public, max-age=60');
    expect(response.body.keys).toHaveLength(1);
    expect(Object.keys(response.body.keys[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    expect(response.body.keys[0]).toMatchObject({
      alg: 'ES256',
      crv: 'P-256',
      kid: 'k1',
      kty: 'EC',
      use: 'sig',
    });
  });

  it('sends the query host over NATS what it needs to verify tokens', async () => {
    const other = await rpcCaller(nats.url);
    const reply = await other.rpc.request(GET_ANALYTICS_KEYS, {});
    expect(reply).toEqual({
      keys: await jwks(),
      issuer: testUrls['token-issuer'],
      audience: testUrls['analytics-query'],
    });
    await other.close();
  });

  it('publishes a new key before it signs, and an old one while it is configured', async () => {
    const old = aTokenKey('old');
    /** @param seconds until the new key signs; a busy machine needs longer to start the app */
    const rotate = async (seconds: number): Promise<void> => {
      const useFrom = Math.floor(Date.now() / 1000) + seconds;
      const next = aTokenKey('next', { use_from: useFrom });
      const rotating = await launchTokenIssuer({ database, nats }, variables(next, old));
      try {
        const key = http(rotating, { key: userKey });
        const published = await jwks(rotating);
        expect(published.map(({ kid }: { kid: string }) => kid)).toEqual(['next', 'old']);
        const kidOf = async () =>
          verified((await key.get('/cube/token').expect(200)).body.token, published).header.kid;
        const kid = await kidOf();
        if (Date.now() < useFrom * 1000) {
          expect(kid).toBe('old');
          await waitFor(async () => (await kidOf()) === 'next', 'the new key');
          expect(Date.now()).toBeGreaterThanOrEqual(useFrom * 1000);
          return;
        }
      } finally {
        await rotating.close();
      }
      await rotate(2 * seconds);
    };
    await rotate(2);
  });
});
