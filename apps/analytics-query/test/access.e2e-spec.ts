import jwt from 'jsonwebtoken';
import { generateKeyPairSync } from 'node:crypto';
import {
  Analytics,
  anAccountId,
  analyticsDatabase,
  AUDIENCE,
  fakeTokenIssuer,
  launchAnalytics,
  signingKey,
  tokenFor,
} from './support.js';
import {
  closeAll,
  stopClock,
  testNats,
  type RpcResponder,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
  http,
} from '@perkway/testing';

let database: TestDatabase;
let nats: TestNats;
let issuer: RpcResponder<object>;
let app: LaunchedApp;
const key = signingKey('k1');
let published = [key];

beforeAll(async () => {
  [database, nats] = await Promise.all([analyticsDatabase(), testNats()]);
  issuer = await fakeTokenIssuer(nats.url, () => published);
  app = await launchAnalytics(database, nats);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => closeAll(app, issuer, database, nats));

const account = anAccountId();
const meta = (token: string) => new Analytics(app.url, token).get('/cubejs-api/v1/meta');
const refused = { status: 401, body: { error: 'Invalid token' } };
const pick = ({ status, body }: { status: number; body: object }) => ({ status, body });

describe('tokens', () => {
  it('are accepted without a Bearer prefix', async () => {
    expect((await meta(tokenFor(account, key))).status).toBe(200);
  });

  it.each<[string, () => string]>([
    ['with a Bearer prefix', () => `Bearer ${tokenFor(account, key)}`],
    ['that is empty', () => ''],
    ['that is garbage', () => 'garbage'],
    ['of three garbage parts', () => 'a.b.c'],
    ['that has expired', () => tokenFor(account, key, { expiresIn: -1 })],
    ['of another issuer', () => tokenFor(account, key, { issuer: 'https://evil.test' })],
    ['for another audience', () => tokenFor(account, key, { audience: 'others' })],
    ['without a valid account', () => tokenFor('not an account', key)],
    ['signed with another key', () => tokenFor(account, { ...signingKey('k1'), kid: 'k1' })],
    ['with an unknown key id', () => tokenFor(account, signingKey('k9'))],
    ['without a signature', () => `${tokenFor(account, key).split('.').slice(0, 2).join('.')}.`],
    [
      'with a changed signature',
      () => tokenFor(account, key).replace(/.{4}$/, (end) => (end === 'AAAA' ? 'BBBB' : 'AAAA')),
    ],
    [
      'with algorithm none',
      () => jwt.sign({ role: 'ADMIN' }, '', { algorithm: 'none', keyid: 'k1', subject: account }),
    ],
    [
      'signed with the public key as a shared secret',
      () =>
        jwt.sign({}, JSON.stringify(key.jwk), {
          algorithm: 'HS256',
          keyid: 'k1',
          subject: account,
          audience: AUDIENCE,
          expiresIn: 60,
        }),
    ],
    [
      'that never expires',
      () =>
        jwt.sign({}, key.privateKey, {
          algorithm: 'ES256',
          keyid: 'k1',
          subject: account,
          audience: AUDIENCE,
          issuer: 'https://token.perkway.test',
        }),
    ],
    [
      'signed by a P-384 key',
      () =>
        jwt.sign({}, generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey, {
          algorithm: 'ES384',
          keyid: 'k1',
          subject: account,
          expiresIn: 60,
        }),
    ],
    ['that is too long', () => 'x'.repeat(8_000)],
  ])('%s are rejected', async (_name, token) => {
    expect(pick(await meta(token()))).toEqual(refused);
  });

  it.each<[string, () => string, RegExp]>([
    ['none', () => '', /^No token was sent\. .*GET \/cube\/token/],
    ['one with a Bearer prefix', () => `bearer ${tokenFor(account, key)}`, /^A Bearer token was sent\. /],
    ['an expired one', () => tokenFor(account, key, { expiresIn: -1 }), /^The token has expired\. /],
    ['an unknown one', () => tokenFor(account, signingKey('k8')), /^The token is invalid\. /],
    ['an API key', () => 'a1b2c3d4e5f6a7b8c9d0', /^The token is invalid\. .*not an API key/],
  ])('are explained in a header when rejected: %s', async (_name, token, detail) => {
    const { status, body, headers } = await meta(token());
    expect({ status, body }).toEqual(refused);
    expect(headers['perkway-detail']).toMatch(detail);
  });

  it('are checked before anything else in the request', async () => {
    const load = http(app).post('/cubejs-api/v1/load').set('content-type', 'application/json');
    expect(pick(await load.send('not json'))).toEqual(refused);
    expect(pick(await new Analytics(app.url, 'x').get('/cubejs-api/v1/load'))).toEqual(refused);
  });

  it('are rejected once they expire, even if they were cached', async () => {
    const clock = stopClock();
    const token = tokenFor(account, key, { expiresIn: 1 });
    expect((await meta(token)).status).toBe(200);
    clock.advance(1_000);
    const response = await meta(token);
    expect(pick(response)).toEqual(refused);
    expect(response.headers['perkway-detail']).toMatch(/^The token has expired\. /);
  });

  it('of a new key are accepted at once, and unknown key ids cannot flood token-issuer', async () => {
    const clock = stopClock();
    clock.advance(2_000);
    const next = signingKey('k2');
    published = [key, next];
    expect((await meta(tokenFor(account, next))).status).toBe(200);
    clock.advance(1_000);
    const before = issuer.requests.length;
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => meta(tokenFor(account, signingKey(`made-up-${index}`)))),
    );
    const requested = issuer.requests.length - before;
    expect(requested).toBeGreaterThan(0);
    expect(requested).toBeLessThanOrEqual(2);
  });

  it('are accepted while token-issuer is down', async () => {
    await issuer.close();
    expect((await meta(tokenFor(account, key, { jwtid: 'another' }))).status).toBe(200);
    issuer = await fakeTokenIssuer(nats.url, () => published);
  });

  it('never appear in the log', () => {
    expect(app.logs.join('')).not.toContain('eyJ');
  });
});

describe('the query host', () => {
  it('serves health probes at its root', async () => {
    for (const path of ['/livez', '/readyz']) {
      await http(app).get(path).expect(200, { health: 'HEALTH' });
    }
  });

  it.each(['/cubejs-api/v1/cubesql', '/cubejs-api/v1/nothing', '/cubejs-api', '/nothing'])(
    'responds to %s with 404 in JSON',
    async (path) => {
      const { status, body } = await http(app, { authorization: tokenFor(account, key) }).get(path);
      expect([status, body]).toEqual([404, { error: expect.any(String) }]);
    },
  );

  it('responds to a wrong method with 405 in JSON', async () => {
    const { status, headers, body } = await http(app).delete('/cubejs-api/v1/load');
    expect([status, headers.allow, body]).toEqual([
      405,
      'GET, HEAD, POST',
      { error: 'DELETE is not allowed here, only GET, HEAD, POST' },
    ]);
  });

  it('allows browsers on any origin', async () => {
    const origin = 'https://dashboard.test';
    const preflight = await http(app).options('/cubejs-api/v1/load').set({
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-request-id',
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers['access-control-allow-origin']).toBe('*');
    expect(preflight.headers['access-control-allow-headers']).toContain('authorization');
    expect((await http(app).options('/cubejs-api/v1/load')).status).toBe(204);
    const response = await http(app, { origin }).get('/cubejs-api/v1/meta');
    expect([response.status, response.headers['access-control-allow-origin']]).toEqual([401, '*']);
    expect(response.headers['access-control-expose-headers']).toBe(
      'x-request-id, retry-after, perkway-detail, ratelimit-limit, ratelimit-remaining, ratelimit-reset',
    );
  });
});
