import { setTimeout as sleep } from 'node:timers/promises';
import { Body, Controller, Get, Global, Module, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { unavailable, type Caller, type ResolvedKey } from '@perkway/domain';
import { createApp, createLogger, loadEnv, platformEnv, Public } from '@perkway/platform';
import { IsInt } from 'class-validator';
import { pino } from 'pino';
import request from 'supertest';
import {
  AllowQueryKey,
  authEnv,
  AuthModule,
  CurrentCaller,
  hashApiKey,
  KEY_RESOLVER,
  KeyStore,
  RequiredScope,
  Roles,
} from './index.js';

const PEPPER = 'pepper-of-at-least-thirty-two-characters';
const USER_KEY = 'user-key-0123456789';
const ADMIN_KEY = 'ADMIN_key_0123456789';
const JOURNEY_KEY = 'journey-key-0123456789';

class AmountDto {
  @IsInt()
  amount: number;
}

@Controller()
class ProbeController {
  @Get('mine')
  mine(@CurrentCaller() caller: Caller) {
    return caller;
  }

  @AllowQueryKey()
  @Get('embedded')
  embedded(@CurrentCaller() caller: Caller) {
    return { account: caller.account };
  }

  @Roles('ADMIN')
  @Post('amounts')
  amounts(@Body() body: AmountDto) {
    return { amount: body.amount };
  }

  @Public()
  @Get('open')
  open() {
    return { ok: true };
  }

  @Public()
  @Get('misused')
  misused(@CurrentCaller() caller: Caller) {
    return caller;
  }
}

@RequiredScope('links:read')
@Controller('links')
class LinksController {
  @Get()
  list() {
    return [];
  }

  @RequiredScope('links:create')
  @Post()
  make() {
    return {};
  }
}

@Roles('ADMIN')
@AllowQueryKey()
@Controller('operators')
class OperatorsController {
  @Get('things')
  things() {
    return [];
  }

  @Roles('USER', 'ADMIN')
  @Get('everyone')
  everyone() {
    return [];
  }

  @Roles('USER', 'ADMIN', 'JOURNEY')
  @Get('shown')
  shown() {
    return [];
  }
}

/** A stub of the app that owns the keys. Records each request. */
class Owner {
  readonly keys: Record<string, ResolvedKey> = {};
  readonly requested: string[][] = [];
  isUnavailable = false;

  constructor() {
    this.add(USER_KEY, { keyId: 'k1', account: 'acme', role: 'USER' });
    this.add(ADMIN_KEY, { keyId: 'k2', account: 'platform', role: 'ADMIN' });
    this.add(JOURNEY_KEY, { keyId: 'k4', account: 'acme', role: 'JOURNEY' });
  }

  add(key: string, resolved: ResolvedKey) {
    this.keys[hashApiKey(PEPPER, key)] = resolved;
  }

  revoke(key: string) {
    delete this.keys[hashApiKey(PEPPER, key)];
  }

  resolve = async (hashes: string[]) => {
    this.requested.push(hashes);
    if (this.isUnavailable) throw unavailable('The API key service');
    return Object.fromEntries(
      hashes.filter((hash) => hash in this.keys).map((hash) => [hash, this.keys[hash]!]),
    );
  };
}

async function startApp(owner: Owner, given: Record<string, string> = {}, logs?: string[]) {
  const env = loadEnv(
    { ...platformEnv, ...authEnv },
    {
      PORT: '1',
      NATS_URL: 'nats://127.0.0.1:1',
      LOG_LEVEL: 'silent',
      API_KEY_PEPPER: PEPPER,
      TRUSTED_PROXIES: '127.0.0.1',
      ...given,
    },
  );
  @Global()
  @Module({ providers: [{ provide: KEY_RESOLVER, useValue: owner.resolve }], exports: [KEY_RESOLVER] })
  class OwnerModule {}
  @Module({
    imports: [OwnerModule, AuthModule],
    controllers: [ProbeController, LinksController, OperatorsController],
  })
  class ProbeModule {}
  const logger = logs && createLogger('probe', 'info', { write: (line) => void logs.push(line) });
  const app = await createApp({ name: 'probe', module: ProbeModule, env, logger });
  await app.listen(0, '127.0.0.1');
  return app;
}

describe('the API key guard', () => {
  let owner: Owner;
  let app: NestFastifyApplication;

  beforeEach(async () => {
    owner = new Owner();
    app = await startApp(owner);
  });
  afterEach(() => app.close());

  const as = (headers: object, to = app) => request.agent(to.getHttpServer()).set(headers);
  const get = (url: string, headers: Record<string, string> = {}) => as(headers).get(url);

  it('tells a key its remaining rate limit, and rejects requests beyond it', async () => {
    const limited = await startApp(owner, { RATE_LIMIT_PER_KEY: '2' });
    try {
      const read = () => as({ 'x-api-key': USER_KEY }, limited).get('/mine');
      const responses = await Promise.all([1, 2, 3, 4, 5].map(read));
      expect(responses.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(1);
      const refused = responses.find(({ status }) => status === 429)!;
      expect(refused.body).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
      expect(refused.headers).toMatchObject({
        'ratelimit-limit': '2',
        'ratelimit-remaining': '0',
        'retry-after': '1',
      });
    } finally {
      await limited.close();
    }
  });

  it('denies by default', async () => {
    const response = await get('/mine');
    expect(response.status).toBe(401);
    expect(response.body).toMatchObject({ code: 'API_KEY_INVALID', status: 401 });
    expect(owner.requested).toEqual([]);
  });

  it.each([
    '',
    'short',
    'x'.repeat(129),
    'has spaces in the middle',
    'bad!characters.in.it',
    Buffer.from('ключключключключ').toString('latin1'),
  ])('rejects %j, which cannot be a key, without a lookup', async (key) => {
    expect((await get('/mine', { 'x-api-key': key })).status).toBe(401);
    expect(owner.requested).toEqual([]);
  });

  it('rejects two keys in one request', async () => {
    const response = await as({ 'x-api-key': [USER_KEY, USER_KEY] }).get('/mine');
    expect(response.status).toBe(401);
  });

  it('rejects an unknown key', async () => {
    const response = await get('/mine', { 'x-api-key': 'nobody-knows-this-key' });
    expect(response.status).toBe(401);
    expect(owner.requested).toEqual([[hashApiKey(PEPPER, 'nobody-knows-this-key')]]);
  });

  it.each<[string, string, Record<string, string>, string]>([
    ['without a key', '/mine', {}, 'No API key was sent. Send it in the header X-API-Key.'],
    [
      'without a key where the query may hold it',
      '/embedded',
      { 'x-api-key': '' },
      'No API key was sent. Send it in the header X-API-Key, or in the query parameter api_key where a header cannot be set.',
    ],
    [
      'with a Bearer token',
      '/mine',
      { authorization: `Bearer ${USER_KEY}` },
      'A Bearer token was sent. Send an API key in the header X-API-Key instead.',
    ],
    [
      'with the word Bearer before the key',
      '/mine',
      { 'x-api-key': `Bearer ${USER_KEY}` },
      'A Bearer token was sent. Send an API key in the header X-API-Key instead.',
    ],
    [
      'with a key in the query where only the header counts',
      `/mine?api_key=${USER_KEY}`,
      {},
      'The query parameter api_key is not accepted here. Send an API key in the header X-API-Key.',
    ],
    ['with an unknown key', '/mine', { 'x-api-key': 'nobody-knows-this-key' }, 'The API key is not known.'],
    ['with what cannot be a key', '/mine', { 'x-api-key': 'short' }, 'The API key is not known.'],
  ])('says what is wrong %s', async (_, url, headers, detail) => {
    const response = await get(url, headers);
    expect([response.status, response.body]).toEqual([
      401,
      expect.objectContaining({ code: 'API_KEY_INVALID', detail }),
    ]);
  });

  it('limits wrong keys per address and minute, but accepts a valid one between them', async () => {
    const limited = await startApp(owner, { UNKNOWN_KEYS_PER_MINUTE: '3' });
    // Start early in a clock minute: the limit resets when the next one begins.
    const leftOfMinute = 60_000 - (Date.now() % 60_000);
    if (leftOfMinute < 5_000) await sleep(leftOfMinute);
    try {
      const from = (address: string, key?: string) =>
        as({ 'x-forwarded-for': address, ...(key ? { 'x-api-key': key } : {}) }, limited).get('/mine');
      for (const remaining of ['2', '1', '0']) {
        const wrong = await from('198.51.100.1', `nobody-knows-this-key-${remaining}`);
        expect(wrong.status).toBe(401);
        expect(wrong.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': remaining });
      }
      const over = await from('198.51.100.1:4711', 'malformed');
      expect([over.status, over.body]).toEqual([
        429,
        expect.objectContaining({
          code: 'TOO_MANY_REQUESTS',
          detail: expect.stringContaining('unknown API keys'),
        }),
      ]);
      expect(over.headers['retry-after']).toBe(over.headers['ratelimit-reset']);
      // A request without a key is not a failed attempt, and a valid key passes even if it is new here.
      expect((await from('198.51.100.1')).status).toBe(401);
      const guess = (_: unknown, at: number) => from('198.51.100.1', `nobody-knows-this-key-${at}`);
      const guesses = () => Promise.all(Array.from({ length: 15 }, guess));
      const [before, valid, after] = await Promise.all([
        guesses(),
        from('198.51.100.1', USER_KEY),
        guesses(),
      ]);
      expect(valid.status).toBe(200);
      const wrong = [...before, ...after];
      expect(new Set(wrong.map(({ status }) => status))).toEqual(new Set([429]));
      expect((await from('198.51.100.2', 'nobody-knows-this-key')).status).toBe(401);
    } finally {
      await limited.close();
    }
  });

  it('logs one line per rejection with code, account and key id, never the key', async () => {
    const logs: string[] = [];
    const logged = await startApp(owner, { RATE_LIMIT_PER_KEY: '2' }, logs);
    try {
      const send = (key: string) => as({ 'x-api-key': key }, logged).post('/amounts').send({ amount: 'x' });
      for (const key of ['nobody-knows-this-key', USER_KEY, ADMIN_KEY]) await send(key);
      expect(logs.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId)).toEqual(
        [
          { status: 401, code: 'API_KEY_INVALID' },
          { status: 403, code: 'FORBIDDEN', account: 'acme', keyId: 'k1' },
          { status: 400, code: 'VALIDATION_FAILED', account: 'platform', keyId: 'k2' },
        ].map((line) =>
          expect.objectContaining({ msg: 'request', method: 'POST', route: '/amounts', ...line }),
        ),
      );
      expect(logs.join('')).not.toMatch(new RegExp(`${USER_KEY}|${ADMIN_KEY}|nobody-knows`, 'i'));
    } finally {
      await logged.close();
    }
  });

  it('logs one line for the first rejection of a key in a second, and one for all others', async () => {
    const logs: string[] = [];
    const limited = await startApp(owner, { RATE_LIMIT_PER_KEY: '2' }, logs);
    const lines = () => logs.map((line) => JSON.parse(line)).filter(({ status }) => status === 429);
    try {
      const beyond = 40;
      let refused = 0;
      while (refused < beyond) {
        const responses = await Promise.all(
          Array.from({ length: beyond }, () => as({ 'x-api-key': USER_KEY }, limited).get('/mine')),
        );
        refused += responses.filter(({ status }) => status === 429).length;
      }
      const counted = () => lines().reduce((sum, { times = 1 }) => sum + times, 0);
      while (counted() < refused) await sleep(50);
      expect(counted()).toBe(refused);
      expect(lines().length).toBeLessThan(refused / 2);
      const common = {
        method: 'GET',
        route: '/mine',
        code: 'TOO_MANY_REQUESTS',
        account: 'acme',
        keyId: 'k1',
      };
      expect(lines()).toContainEqual(expect.objectContaining({ ...common, msg: 'request' }));
      expect(lines()).toContainEqual(expect.objectContaining({ ...common, msg: 'requests refused' }));
    } finally {
      await limited.close();
    }
  });

  it('resolves a key once, whatever its case', async () => {
    for (const key of [USER_KEY, USER_KEY.toUpperCase(), USER_KEY]) {
      const response = await get('/mine', { 'x-api-key': key, 'x-request-id': 'r-1' });
      expect(response.status).toBe(200);
      expect(response.body).toEqual({
        account: 'acme',
        role: 'USER',
        keyId: 'k1',
        countedAs: 'k1',
        requestId: 'r-1',
      });
    }
    expect(owner.requested).toEqual([[hashApiKey(PEPPER, USER_KEY)]]);
  });

  it('limits a key with scopes to the operations that name one of them', async () => {
    const [maker, operator] = ['maker-key-0123456789', 'operator-key-0123456789'];
    owner.add(maker, { keyId: 'k5', account: 'acme', role: 'USER', scopes: ['links:create', 'pools:read'] });
    owner.add(operator, { keyId: 'k6', account: 'acme', role: 'ADMIN', scopes: ['links:read'] });
    const links = (key: string) => as({ 'x-api-key': key }).get('/links');
    // The first request asks the owner of the keys, the second one finds the key in memory.
    for (let time = 0; time < 2; time += 1) {
      await as({ 'x-api-key': maker }).post('/links').expect(201);
      expect((await links(maker).expect(403)).body).toMatchObject({
        code: 'SCOPE_MISSING',
        detail: 'The key does not have the scope links:read.',
      });
      await links(operator).expect(200);
      await links(USER_KEY).expect(200);
      for (const path of ['/mine', '/operators/things'])
        expect((await as({ 'x-api-key': operator }).get(path).expect(403)).body).toMatchObject({
          code: 'SCOPE_MISSING',
          detail: 'A key with scopes cannot make management calls.',
        });
      // A scope does not widen the role.
      const refused = await as({ 'x-api-key': maker }).get('/operators/things').expect(403);
      expect(refused.body.code).toBe('FORBIDDEN');
    }
  });

  it('rejects a key from its expiry on, although it is in memory and its owner is unavailable', async () => {
    /** Returns a key that was accepted, which takes longer on a busy machine. */
    const anAcceptedKey = async (ms: number): Promise<{ key: string; expiresAt: number }> => {
      const key = `ending-key-0123456789-${ms}`;
      const expiresAt = Date.now() + ms;
      owner.add(key, { keyId: 'k7', account: 'acme', role: 'USER', expiresAt });
      const { status } = await get('/mine', { 'x-api-key': key });
      if (Date.now() >= expiresAt) return anAcceptedKey(2 * ms);
      expect(status).toBe(200);
      return { key, expiresAt };
    };
    const { key, expiresAt } = await anAcceptedKey(300);
    owner.isUnavailable = true;
    await sleep(expiresAt - Date.now());
    const response = await get('/mine', { 'x-api-key': key });
    expect([response.status, response.body]).toEqual([
      401,
      expect.objectContaining({ code: 'API_KEY_INVALID', detail: 'The API key has expired.' }),
    ]);
  });

  it('tells an expired key from an unknown one', async () => {
    const key = 'expired-key-0123456789';
    owner.add(key, { keyId: 'k8', account: 'acme', role: 'USER', expiresAt: Date.now() - 1 });
    for (let time = 0; time < 2; time += 1)
      expect((await get('/mine', { 'x-api-key': key })).body.detail).toBe('The API key has expired.');
  });

  it('gives concurrent callers each their own account', async () => {
    const keys = [USER_KEY, ADMIN_KEY];
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        get('/mine', { 'x-api-key': keys[i % 2]!, 'x-request-id': `r-${i}` }),
      ),
    );
    responses.forEach((response, i) =>
      expect(response.body).toMatchObject({ account: ['acme', 'platform'][i % 2], requestId: `r-${i}` }),
    );
  });

  it('checks the key, then the role, then the body', async () => {
    const post = async (key: string | undefined, payload: string) => {
      const headers = { 'content-type': 'application/json', ...(key ? { 'x-api-key': key } : {}) };
      const response = await as(headers).post('/amounts').send(payload);
      return [response.status, response.body.code];
    };
    // Twice: through Passport, and from the cache.
    for (const _ of [1, 2]) {
      expect(await post(undefined, '{bad')).toEqual([401, 'API_KEY_INVALID']);
      expect(await post(USER_KEY, '{bad')).toEqual([403, 'FORBIDDEN']);
      expect(await post(USER_KEY, '{"amount":"x"}')).toEqual([403, 'FORBIDDEN']);
      expect(await post(ADMIN_KEY, '{bad')).toEqual([400, 'VALIDATION_FAILED']);
      expect(await post(ADMIN_KEY, '{"amount":"x"}')).toEqual([400, 'VALIDATION_FAILED']);
      expect(await post(ADMIN_KEY, '{"amount":3}')).toEqual([201, undefined]);
    }
  });

  it('prefers the roles of the handler to those of the controller', async () => {
    expect((await get('/operators/things', { 'x-api-key': USER_KEY })).status).toBe(403);
    expect((await get('/operators/things', { 'x-api-key': ADMIN_KEY })).status).toBe(200);
    expect((await get('/operators/everyone', { 'x-api-key': USER_KEY })).status).toBe(200);
  });

  it('accepts JOURNEY keys only where allowed, and says why elsewhere', async () => {
    const headers = { 'x-api-key': JOURNEY_KEY };
    // Twice: through Passport, and from the cache.
    for (const _ of [1, 2]) {
      expect((await get('/operators/shown', headers)).status).toBe(200);
      for (const path of ['/mine', '/embedded', '/operators/things', '/operators/everyone']) {
        const response = await get(path, headers);
        expect([path, response.status, response.body.code]).toEqual([path, 403, 'FORBIDDEN']);
        expect(response.body.detail).toMatch(/JOURNEY may only call the customer journey and read perks/);
      }
      expect((await get(`/embedded?api_key=${JOURNEY_KEY}`)).status).toBe(403);
    }
    expect((await get('/operators/shown', { 'x-api-key': USER_KEY })).status).toBe(200);
  });

  it('lets anybody call public handlers only', async () => {
    expect((await get('/open')).status).toBe(200);
    expect((await get('/open', { 'x-api-key': 'nonsense' })).status).toBe(200);
    expect(owner.requested).toEqual([]);
  });

  it('fails instead of running a handler without the caller it needs', async () => {
    expect((await get('/misused', { 'x-api-key': USER_KEY })).status).toBe(500);
  });

  describe('the key in the query', () => {
    it('is used where the handler or controller allows it', async () => {
      expect((await get(`/embedded?api_key=${USER_KEY}`)).body).toEqual({ account: 'acme' });
      expect((await get(`/operators/things?api_key=${ADMIN_KEY.toUpperCase()}`)).status).toBe(200);
    });

    it('is ignored elsewhere', async () => {
      expect((await get(`/mine?api_key=${USER_KEY}`)).status).toBe(401);
      expect(owner.requested).toEqual([]);
    });

    it('is ignored if there is a header, even an empty one', async () => {
      for (const header of ['', 'malformed', 'unknown-key-0123456789'])
        expect((await get(`/embedded?api_key=${USER_KEY}`, { 'x-api-key': header })).status).toBe(401);
      expect((await get('/embedded?api_key=unknown-key-0123456789', { 'x-api-key': USER_KEY })).status).toBe(
        200,
      );
    });

    it('is the last one if repeated, and missing if empty', async () => {
      const unknown = 'unknown-key-0123456789';
      expect((await get(`/embedded?api_key=${unknown}&api_key=${USER_KEY}`)).status).toBe(200);
      expect((await get(`/embedded?api_key=${USER_KEY}&api_key=${unknown}`)).status).toBe(401);
      expect((await get('/embedded?api_key=')).status).toBe(401);
      expect((await get('/embedded')).status).toBe(401);
    });
  });

  it('rejects a revoked key within 5 s, even while it is in use', async () => {
    expect((await get('/mine', { 'x-api-key': USER_KEY })).status).toBe(200);
    owner.revoke(USER_KEY);
    const revokedAt = Date.now();
    let status: number;
    let sentAt: number;
    do {
      await sleep(100);
      sentAt = Date.now();
      ({ status } = await get('/mine', { 'x-api-key': USER_KEY }));
    } while (status === 200 && sentAt - revokedAt <= 5_000);
    expect(status).toBe(401);
  });

  it('accepts a key at once after this process has created it', async () => {
    const fresh = 'fresh-key-0123456789';
    expect((await get('/mine', { 'x-api-key': fresh })).status).toBe(401);
    owner.add(fresh, { keyId: 'k3', account: 'acme', role: 'USER' });
    app.get(KeyStore).invalidate(hashApiKey(PEPPER, fresh));
    expect((await get('/mine', { 'x-api-key': fresh })).status).toBe(200);
  });

  it('responds 503 for an unseen key while the owner is unavailable, and serves known ones', async () => {
    expect((await get('/mine', { 'x-api-key': USER_KEY })).status).toBe(200);
    owner.isUnavailable = true;
    const unknown = await get('/mine', { 'x-api-key': ADMIN_KEY });
    expect(unknown.status).toBe(503);
    expect(unknown.headers['retry-after']).toBeDefined();
    expect((await get('/mine', { 'x-api-key': USER_KEY })).status).toBe(200);
    expect((await get('/mine', { 'x-api-key': 'bad' })).status).toBe(401);
  });

  it('keeps two apps in one process apart', async () => {
    const other = new Owner();
    other.revoke(USER_KEY);
    const otherApp = await startApp(other);
    try {
      expect((await get('/mine', { 'x-api-key': USER_KEY })).status).toBe(200);
      const response = await as({ 'x-api-key': USER_KEY }, otherApp).get('/mine');
      expect(response.status).toBe(401);
    } finally {
      await otherApp.close();
    }
  });
});

describe('a known key while its owner is unavailable', () => {
  beforeEach(() => jest.useFakeTimers({ now: 0 }));
  afterEach(() => jest.useRealTimers());

  it('is accepted for 60 s and then rejected', async () => {
    const owner = new Owner();
    const keys = new KeyStore(PEPPER, owner.resolve, pino({ level: 'silent' }));
    try {
      expect(await keys.find(USER_KEY)).toMatchObject({ account: 'acme' });
      owner.isUnavailable = true;
      await jest.advanceTimersByTimeAsync(59_000);
      expect(await keys.find(USER_KEY)).toMatchObject({ account: 'acme' });
      await jest.advanceTimersByTimeAsync(1_100);
      expect(keys.peek(USER_KEY)).toBeUndefined();
      await expect(keys.find(USER_KEY)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      owner.isUnavailable = false;
      expect(await keys.find(USER_KEY)).toMatchObject({ account: 'acme' });
    } finally {
      keys.onModuleDestroy();
    }
  });
});

describe('hashApiKey', () => {
  it('ignores case and depends on the pepper', () => {
    expect(hashApiKey(PEPPER, 'ABC')).toBe(hashApiKey(PEPPER, 'abc'));
    expect(hashApiKey(PEPPER, 'abc')).not.toBe(hashApiKey(`${PEPPER}2`, 'abc'));
    expect(hashApiKey(PEPPER, 'abc')).toMatch(/^[0-9a-f]{64}$/);
  });
});
