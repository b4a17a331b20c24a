import { Body, Controller, Get, Module, Param, Patch, Post, Req, type CanActivate } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiError, ERROR_CODES, invalidField, unavailable } from '@perkway/domain';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsNumber, IsObject, ValidateNested } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import request from 'supertest';
import { version } from '../../../package.json';
import { createApp, type AppDefinition } from './create-app.js';
import { loadEnv, platformEnv } from './config/load-env.js';
import { CallerIdPipe } from './errors/caller-id.js';
import { renderPlainCode } from './errors/error-renderer.js';
import { IsText } from './errors/is-text.js';
import { DrainState } from './health/health.module.js';
import { clientIp } from './http/client-ip.js';
import { createLogger } from './logging/logger.js';

class PartDto {
  @IsNumber()
  rank: number;
}
class ThingDto {
  @IsText(1, 10)
  name: string;

  @IsArray()
  @ArrayMaxSize(3)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PartDto)
  parts: PartDto[];
}

@Controller()
class ThingsController {
  @Post('things')
  create(@Body() body: ThingDto) {
    return body;
  }

  @Get('admin/things')
  all() {
    return { things: [] };
  }

  @Post('admin/things')
  createForAll(@Body() body: ThingDto) {
    return body;
  }

  @Get('things/:thingId')
  one(@Param('thingId', CallerIdPipe) thingId: string) {
    return { thingId };
  }

  @Patch('things/special')
  special() {}

  @Get('ip')
  ip(@Req() request: FastifyRequest) {
    return { ip: clientIp(request) };
  }

  @Get('refused')
  refused() {
    throw new ApiError('KEY_EXISTS');
  }

  @Get('worded')
  worded() {
    throw invalidField('size', 'has no value \u20ac, but one of: \r\n 1 \u{1f600}.');
  }

  @Get('away')
  away() {
    throw unavailable('The weather');
  }

  @Get('broken')
  broken() {
    throw new Error('a fault about api_key=abcdefghijklmnop1234');
  }
}

/** Takes the place of an app's own guard. */
class HeaderGuard implements CanActivate {
  canActivate(context: { switchToHttp(): { getRequest(): FastifyRequest } }) {
    if (context.switchToHttp().getRequest().headers['x-refuse']) throw new ApiError('API_KEY_INVALID');
    return true;
  }
}

@Module({ controllers: [ThingsController], providers: [{ provide: APP_GUARD, useClass: HeaderGuard }] })
class ThingsModule {}

const NO_BROKER = 'nats://127.0.0.1:1';

describe('an app of the platform', () => {
  const logs: string[] = [];
  let app: NestFastifyApplication;
  let port: number;

  const openapi = { title: 'Things', description: 'Of the test.', url: 'https://things.example' };
  const launch = async (
    definition: Partial<AppDefinition> = {},
    variables: Record<string, string> = {},
  ): Promise<NestFastifyApplication> => {
    const launched = await createApp({
      name: 'probe',
      module: ThingsModule,
      env: loadEnv(platformEnv, { PORT: '1', NATS_URL: NO_BROKER, ...variables }),
      logger: createLogger('probe', 'debug', { write: (line) => void logs.push(line) }),
      ...definition,
    });
    await launched.listen(0, '127.0.0.1');
    return launched;
  };
  const http = (of = app) => request(of.getHttpServer());

  beforeAll(async () => {
    app = await launch({
      bodyLimit: 1_000,
      openapi,
    });
    ({ port } = app.getHttpServer().address() as AddressInfo);
  });
  afterAll(() => app.close());
  beforeEach(() => void logs.splice(0));

  const post = (payload: string, headers: Record<string, string> = {}, url = '/things') =>
    http()
      .post(url)
      .set({ 'content-type': 'application/json', ...headers })
      .send(payload);
  const valid = { name: 'x', parts: [{ rank: 1 }] };

  describe('bodies', () => {
    it('are validated against their class, and unknown members are dropped', async () => {
      const response = await post(JSON.stringify({ ...valid, other: 1, parts: [{ rank: 1, other: 1 }] }));
      expect(response.status).toBe(201);
      expect(response.body).toEqual(valid);
    });

    it.each<[string, unknown, string[]]>([
      ['nothing', {}, ['name']],
      ['an invalid member of an array', { name: 'x', parts: [{ rank: 1 }, { rank: 'a' }] }, ['parts.1.rank']],
      ['several invalid members', { name: '', parts: [{}] }, ['name', 'parts.0.rank']],
      ['NUL in a string', { ...valid, name: 'a\0' }, ['name']],
      ['too many characters', { ...valid, name: '😀'.repeat(11) }, ['name']],
    ])('with %s are rejected with the field', async (_, body, fields) => {
      const response = await post(JSON.stringify(body));
      expect(response.status).toBe(400);
      const problem = response.body as { detail: string; errors: { field: string; message: string }[] };
      expect(problem.errors.map(({ field }) => field)).toEqual(expect.arrayContaining(fields));
      for (const { field, message } of problem.errors) {
        expect(problem.detail).toContain(`${field} ${message}`);
        expect(message).not.toContain(field.split('.').at(-1)!);
      }
    });

    it('report a wrong type before other constraints', async () => {
      const detailOf = async (body: object) => (await post(JSON.stringify(body))).body;
      expect(await detailOf({ name: 'x' })).toMatchObject({ detail: 'parts must be an array' });
      expect(await detailOf({ name: 'x', parts: {} })).toMatchObject({ detail: 'parts must be an array' });
      expect(await detailOf({ name: 'x', parts: [1, 2, 3, 4] })).toMatchObject({
        detail: 'parts must contain no more than 3 elements',
      });
      expect(await detailOf({ name: 'x', parts: [1] })).toMatchObject({
        detail: 'parts has an invalid value: each must be an object',
      });
      expect(await detailOf({ name: 'x', parts: [{ rank: 'a' }] })).toMatchObject({
        detail: 'parts.0.rank must be a number',
      });
    });

    it('are measured in characters, not in UTF-16 units', async () => {
      expect((await post(JSON.stringify({ ...valid, name: '😀'.repeat(10) }))).status).toBe(201);
    });

    it.each(['{bad', '[1]', '"x"', '7', 'null', ''])('%j are VALIDATION_FAILED', async (payload) => {
      const response = await post(payload);
      expect(response.status).toBe(400);
      expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect(response.body).toMatchObject({ code: 'VALIDATION_FAILED', status: 400 });
    });

    it('of another content type are rejected, whatever they contain', async () => {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'nonsense',
        'text/',
        'application/xml',
      ]) {
        const response = await post('{}', { 'content-type': type });
        expect(response.status).toBe(415);
        expect(response.body).toMatchObject({
          code: 'UNSUPPORTED_MEDIA_TYPE',
          detail: 'Use the content type application/json',
        });
      }
      expect(
        (await post(JSON.stringify(valid), { 'content-type': 'application/json;charset=UTF-8' })).status,
      ).toBe(201);
    });

    it('over the limit are rejected', async () => {
      const response = await post(JSON.stringify({ ...valid, padding: 'x'.repeat(1_000) }));
      expect(response.status).toBe(413);
      expect(response.body).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    });

    it.each([
      ['as arrays', '['.repeat(50_000) + ']'.repeat(50_000)],
      ['in a member', `{"name":"x","parts":${'[{"rank":'.repeat(20_000)}1${'}]'.repeat(20_000)}}`],
      ['without an end', '{"name":'.repeat(50_000)],
      ['under __proto__', `{"__proto__":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ])('nested deeply %s are VALIDATION_FAILED', async (_, payload) => {
      const deep = await launch();
      try {
        const headers = { 'content-type': 'application/json' };
        const response = await http(deep).post('/things').set(headers).send(payload);
        expect(response.status).toBe(400);
        expect(response.body).toMatchObject({ code: 'VALIDATION_FAILED' });
      } finally {
        await deep.close();
      }
    });

    it.each(['content-length: 5000000000', 'transfer-encoding: chunked'])(
      'over the limit are rejected after authentication, without waiting for the rest (%s)',
      async (length) => {
        for (const [headers, expected] of [
          ['x-refuse: yes\r\n', '401 Unauthorized'],
          ['', '413 Payload Too Large'],
        ]) {
          const socket = connect(port, '127.0.0.1');
          socket.write(`POST /things HTTP/1.1\r\nhost: x\r\n${headers}content-type: application/json\r\n`);
          socket.write(`${length}\r\n\r\n7d0\r\n${' '.repeat(2_000)}\r\n`);
          let reply = '';
          for await (const text of socket.setEncoding('latin1')) reply += String(text);
          expect(reply).toMatch(new RegExp(`^HTTP/1.1 ${expected}\\r\\n`));
          expect(reply).toMatch(/\r\nconnection: close\r\n/i);
        }
      },
    );

    it('are validated after authentication', async () => {
      for (const [payload, type] of [
        ['{bad', 'application/json'],
        ['x', 'text/plain'],
        ['x', 'nonsense'],
        ['x', 'text/'],
        ['x', 'a b/c; d'],
        ['{}', 'application/json'],
      ] as const) {
        const response = await post(payload, { 'content-type': type, 'x-refuse': 'yes' });
        expect(response.body).toMatchObject({ code: 'API_KEY_INVALID', status: 401 });
      }
    });

    describe('that are large', () => {
      const body = JSON.stringify({ ...valid, padding: 'x'.repeat(900_000) });
      let roomy: NestFastifyApplication;
      let sockets: Set<Socket>;
      const read = () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
      /** Sends all but the last byte, so that the body keeps its memory budget. */
      const begin = (address: string) => {
        const client = connect((roomy.getHttpServer().address() as AddressInfo).port, '127.0.0.1');
        client.write(
          `POST /things HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-forwarded-for: ${address}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
        );
        client.write(body.slice(0, -1));
        return client;
      };
      const untilNothingIsRead = async (connections: number) => {
        let before = -1;
        while (sockets.size < connections || read() !== before) {
          before = read();
          await sleep(300);
        }
      };

      beforeEach(async () => {
        roomy = await launch({ bodyLimit: 1024 * 1024 }, { TRUSTED_PROXIES: '127.0.0.1' });
        sockets = new Set();
        (roomy.getHttpServer() as Server).on('connection', (socket: Socket) => sockets.add(socket));
      });
      afterEach(() => roomy.close());

      it('stay unread while the memory budget is used up, and all get a response', async () => {
        const clients = Array.from({ length: 100 }, (_, index) => begin(`198.51.100.${index % 10}`));
        await untilNothingIsRead(clients.length);
        // 17 of 100 bodies are admitted. Of the others, only the first bytes and data already in flight are read.
        expect(read()).toBeGreaterThan(16_000_000);
        expect(read()).toBeLessThan(0.45 * clients.length * body.length);
        // A small body is admitted at once.
        expect((await http(roomy).post('/things').send(valid)).status).toBe(201);
        // A disconnect frees budget for other bodies.
        for (const client of clients.splice(0, 20)) client.destroy();
        const responses = clients.map(async (client) => {
          let reply = '';
          for await (const text of client.setEncoding('latin1')) reply += String(text);
          return reply.slice(0, 'HTTP/1.1 201'.length);
        });
        for (const client of clients) client.write(body.slice(-1));
        expect(new Set(await Promise.all(responses))).toEqual(new Set(['HTTP/1.1 201']));
      });

      it('of one address have a limited share, so that slow senders delay only themselves', async () => {
        // Different addresses of the same network.
        const slow = Array.from({ length: 40 }, (_, index) => begin(`2001:db8::${index}`));
        await untilNothingIsRead(slow.length);
        const other = await http(roomy)
          .post('/things')
          .set({ 'x-forwarded-for': '198.51.100.1', 'content-type': 'application/json' })
          .timeout(10_000)
          .send(body);
        expect(other.status).toBe(201);
        for (const client of slow) client.destroy();
      });
    });

    it('are parsed only after authentication', async () => {
      const parse = jest.spyOn(JSON, 'parse');
      const wasParsed = () => parse.mock.calls.some(([text]) => text.includes('marked'));
      try {
        expect((await post('{"name":"marked"}', { 'x-refuse': 'yes' })).status).toBe(401);
        expect(wasParsed()).toBe(false);
        expect((await post('{"name":"marked"}')).status).toBe(400);
        expect(wasParsed()).toBe(true);
      } finally {
        parse.mockRestore();
      }
    });

    it.each([
      '{"name":"x","parts":[],"__proto__":{"name":"y"}}',
      '{"name":"x","parts":[],"a":[{"__proto__":{"polluted":1}}],"__proto__":[]}',
      '{"name":"x","parts":[],"\\u005f_proto__":{"polluted":1}}',
    ])('cannot reach a prototype: %s', async (payload) => {
      const response = await post(payload);
      expect(response.status).toBe(201);
      expect(response.body).toEqual({ name: 'x', parts: [] });
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    });
  });

  describe('URLs', () => {
    it.each<[string, string, string]>([
      ['GET', '/things', 'POST'],
      ['DELETE', '/things/a', 'GET, HEAD'],
      ['OPTIONS', '/things/a?x=/y', 'GET, HEAD'],
      ['POST', '/livez', 'GET, HEAD'],
      // Two routes share this path.
      ['PUT', '/things/special', 'GET, HEAD, PATCH'],
      ['HEAD', '/things', 'POST'],
    ])('%s %s is 405 and names the allowed methods, without a key', async (method, url, allow) => {
      const verb = method.toLowerCase() as 'get';
      const response = await http()[verb](url).set('x-refuse', 'yes');
      expect([response.status, response.headers.allow]).toEqual([405, allow]);
      if (method !== 'HEAD')
        expect(response.body).toMatchObject({
          code: 'METHOD_NOT_ALLOWED',
          detail: `${method} is not allowed here, only ${allow}`,
        });
    });

    it.each(['/nothing/here', '/things/', '/things/a/b'])('GET %s is 404 on an unknown path', async (url) => {
      const response = await http().get(url);
      expect(response.status).toBe(404);
      expect(response.body).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    });

    it.each(['/things/%ZZ', '/things/%C3', '/%'])('%s is 400, because it cannot be decoded', async (url) => {
      const response = await http().get(url);
      expect(response.status).toBe(400);
      expect(response.body).toMatchObject({ code: 'VALIDATION_FAILED' });
    });

    it('must contain valid ids', async () => {
      expect((await http().get('/things/A.b_c-1')).body).toEqual({ thingId: 'A.b_c-1' });
      for (const id of ['a%20b', 'a%2Fb', '%00', 'x'.repeat(101), 'é']) {
        const response = await http().get(`/things/${id}`);
        expect(response.status).toBe(400);
        expect(response.body).toMatchObject({ errors: [{ field: 'thingId' }] });
      }
    });

    it('and headers that are far too long are rejected in the usual format', async () => {
      const reply = await http().get(`/things/${'x'.repeat(20_000)}`);
      expect(reply.status).toBe(400);
      expect(reply.body).toMatchObject({ code: 'VALIDATION_FAILED', status: 400 });
    });
  });

  it('responds to an expected error with its code and the request id', async () => {
    const response = await http().get('/refused').set({ 'x-request-id': 'my-request.1' });
    expect(response.status).toBe(409);
    expect(response.headers['x-request-id']).toBe('my-request.1');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.body).toMatchObject({ code: 'KEY_EXISTS', requestId: 'my-request.1' });
    for (const bad of ['', 'a b', 'x'.repeat(101), 'a"b']) {
      const { headers } = await http().get('/refused').set({ 'x-request-id': bad });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('has a home page, in HTML and JSON', async () => {
    const page = await http().get('/').set('accept', 'text/html,*/*;q=0.8');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.text).toContain('<h1>Things</h1>');
    expect(page.text).toContain('href="/docs-json"');
    expect((await http().get('/')).body).toEqual({
      title: 'Things',
      description: 'Of the test.',
      docs: '/docs',
      openapi: '/docs-json',
      errors: '/errors',
    });
  });

  it('explains every error code at the type of a problem', async () => {
    const { type } = (await http().get('/refused')).body as { type: string };
    const [path, code] = type.split('#') as [string, string];
    const { text, headers } = await http().get(path);
    expect(headers['content-type']).toContain('text/html');
    for (const each of [code, ...Object.keys(ERROR_CODES)]) expect(text).toContain(`id="${each}"`);
    expect(text).toContain('<code>PERK_<wbr>NOT_<wbr>FOUND</code>');
    const adviceOf = (each: string) => new RegExp(`id="${each}".*?</tr>`).exec(text)![0];
    expect(adviceOf('PERK_NOT_FOUND')).toContain('Do not retry: the same request will fail again');
    // The state of the account may change, so the same request may succeed later.
    expect(adviceOf('NO_AVAILABLE_CARDS')).toContain('Retry once a card is available');
    expect(adviceOf('LIMIT_REACHED')).toContain('Retry after the number of seconds in Retry-After');
    expect(adviceOf('IN_USE')).toContain('Change the state that the error names, then retry');
    expect(adviceOf('IDEMPOTENCY_KEY_CONFLICT')).toContain('Do not retry');
  });

  it('sends Retry-After while a dependency is unavailable', async () => {
    const response = await http().get('/away');
    expect(response.status).toBe(503);
    expect(response.headers['retry-after']).toBe('2');
    expect(response.body).toMatchObject({ detail: 'The weather is not available, please try again' });
  });

  it('logs an internal error with its request id, redacted, and reveals nothing in the response', async () => {
    const response = await http().get('/broken?api_key=abcdefghijklmnop1234').set('x-request-id', 'r-9');
    expect(response.status).toBe(500);
    expect(response.body).toEqual({
      type: '/errors#INTERNAL_ERROR',
      title: 'Something went wrong on our side',
      status: 500,
      detail: 'Something went wrong on our side',
      code: 'INTERNAL_ERROR',
      requestId: 'r-9',
    });
    expect(logs).toHaveLength(1);
    expect(JSON.parse(logs[0]!)).toMatchObject({
      level: 'error',
      requestId: 'r-9',
      method: 'GET',
      route: '/broken',
      status: 500,
      ms: expect.any(Number),
      code: 'INTERNAL_ERROR',
      err: { message: expect.stringContaining('a fault about'), stack: expect.any(String) },
    });
    expect(logs.join('')).not.toContain('abcdefghijklmnop1234');
  });

  it('logs each rejected request with its route, never its URL', async () => {
    await http().get('/things/a%20b?token=abcdefghijklmnop1234');
    await http().get('/c/abcdefghijklmnop1234');
    const lines = logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'info',
        method: 'GET',
        route: '/things/:thingId',
        status: 400,
        code: 'VALIDATION_FAILED',
      }),
      expect.objectContaining({
        level: 'info',
        method: 'GET',
        route: '(none)',
        status: 404,
        code: 'NOT_FOUND',
      }),
    ]);
    expect(logs.join('')).not.toContain('abcdefghijklmnop1234');
  });

  it('counts requests by route and status for Prometheus', async () => {
    await http().get('/things/metrics-probe-1');
    await http().get('/things/metrics-probe-2');
    await http().get('/metrics-probe-3');
    const response = await http().get('/metrics');
    expect(response.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    const counted = response.text
      .split('\n')
      .filter((line) => line.startsWith('http_request_duration_seconds_count{'))
      // The order of labels does not matter.
      .map((line) =>
        line
          .slice(line.indexOf('{') + 1, line.indexOf('} '))
          .split(',')
          .sort(),
      );
    expect(counted).toContainEqual([
      'app="probe"',
      'method="GET"',
      'route="/things/:thingId"',
      'status="200"',
    ]);
    expect(response.text).toMatch(/route="\(none\)",status="404"/);
    expect(response.text).toMatch(/^process_cpu_seconds_total\{app="probe"\} /m);
    expect(response.text).toMatch(/^nodejs_eventloop_lag_seconds\{app="probe"\} /m);
    expect(response.text).not.toContain('metrics-probe');
  });

  it('serves metrics only on METRICS_PORT if it is set', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port: metricsPort } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const metered = await launch({}, { METRICS_PORT: String(metricsPort) });
    const own = request(`http://127.0.0.1:${metricsPort}`);
    try {
      expect((await http(metered).get('/metrics')).status).toBe(404);
      await http(metered).get('/things/metered');
      const metrics = await own.get('/metrics');
      expect([metrics.status, metrics.headers['content-type']]).toEqual([
        200,
        expect.stringMatching(/^text\/plain; version=0\.0\.4/),
      ]);
      expect(metrics.text).toContain('route="/things/:thingId",status="200"');
      expect([(await own.get('/things/a')).status, (await own.get('/docs-json')).status]).toEqual([404, 404]);
      const health = async (url: string) => [
        (await http(metered).get(url)).status,
        (await own.get(url)).status,
        (await own.head(url)).status,
      ];
      expect([await health('/livez'), await health('/readyz')]).toEqual([
        [200, 200, 200],
        [200, 200, 200],
      ]);
      metered.get(DrainState, { strict: false }).begin();
      expect([await health('/livez'), await health('/readyz')]).toEqual([
        [200, 200, 200],
        [503, 503, 503],
      ]);
      // Readiness failures during a drain are not errors.
      expect(logs.filter((line) => line.includes('/readyz') && line.includes('"error"'))).toEqual([]);
    } finally {
      await metered.close();
    }
    await expect(own.get('/livez')).rejects.toThrow('ECONNREFUSED');
  });

  it('serves internal routes only on METRICS_PORT if so configured', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const hiding = await launch(
      { openapi },
      { METRICS_PORT: String(port), EXPOSE_ADMIN: 'false', EXPOSE_DOCS: 'false' },
    );
    try {
      const outside = await hiding.getUrl();
      const inside = `http://127.0.0.1:${port}`;
      const post = (url: string, body: string) =>
        fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      for (const path of ['/admin/things', '/%61dmin/things', '/admin', '/docs', '/docs-yaml', '/docs/x']) {
        const reply = await fetch(outside + path);
        expect([reply.status, await reply.json()]).toEqual([
          404,
          expect.objectContaining({ code: 'NOT_FOUND' }),
        ]);
      }
      expect((await post(`${outside}/admin/things`, '{}')).status).toBe(404);
      expect((await fetch(`${outside}/things/administrator`)).status).toBe(200);
      expect(await (await fetch(`${inside}/admin/things`)).json()).toEqual({ things: [] });
      const made = await post(`${inside}/admin/things`, '{"name":"a","parts":[]}');
      expect([made.status, await made.json()]).toEqual([201, { name: 'a', parts: [] }]);
      expect((await post(`${inside}/admin/things`, '{}')).status).toBe(400);
      expect((await fetch(`${inside}/things/a`)).status).toBe(404);
      expect((await fetch(`${inside}/livez`)).status).toBe(200);
      const documentOf = async (url: string) =>
        (await (await fetch(`${url}/docs-json`)).json()) as { paths: object };
      const [forAll, whole] = [await documentOf(outside), await documentOf(inside)];
      expect(Object.keys(forAll.paths).filter((path) => path.startsWith('/admin'))).toEqual([]);
      expect(forAll.paths).toHaveProperty(['/things/{thingId}']);
      expect(whole.paths).toHaveProperty(['/admin/things']);
      expect((await fetch(`${inside}/docs`)).status).toBe(200);
      expect((await fetch(`${outside}/errors`)).status).toBe(200);
      expect(await (await fetch(outside)).json()).toEqual({
        title: 'Things',
        description: 'Of the test.',
        openapi: '/docs-json',
        errors: '/errors',
      });
      expect(await (await fetch(outside, { headers: { accept: 'text/html' } })).text()).not.toContain(
        'href="/docs"',
      );
    } finally {
      await hiding.close();
    }
  });

  it('is alive and ready without a broker', async () => {
    for (const url of ['/livez', '/readyz']) {
      const response = await http().get(url);
      expect(response.status).toBe(200);
      expect(response.body).toEqual({ status: 'ok' });
      expect(response.headers['cache-control']).toBe('no-store');
      expect((await http().head(url)).status).toBe(200);
    }
  });

  it('serves its OpenAPI document, without its own endpoints', async () => {
    expect((await http().get('/docs')).status).toBe(200);
    const document = (await http().get('/docs-json')).body;
    expect(document).toMatchObject({
      info: { title: 'Things', version },
      // Not the host that the caller used.
      servers: [{ url: 'https://things.example' }],
    });
    expect(document.paths).toHaveProperty(['/things/{thingId}']);
    for (const own of ['/metrics', '/livez', '/readyz']) expect(document.paths).not.toHaveProperty([own]);
  });

  it("writes errors in the host's format", async () => {
    const plain = await launch({ errors: renderPlainCode });
    try {
      for (const [url, code] of [
        ['/refused', 'KEY_EXISTS'],
        ['/nothing', 'NOT_FOUND'],
        ['/things/%ZZ', 'VALIDATION_FAILED'],
        ['/broken', 'INTERNAL_ERROR'],
        ['/worded', 'VALIDATION_FAILED'],
      ]) {
        const response = await http(plain).get(url!);
        expect(response.headers['content-type']).toBe('text/plain; charset=utf-8');
        expect(response.text).toBe(code);
        // Characters that a header cannot hold are replaced.
        expect(response.headers['perkway-detail']).toBe(
          {
            '/refused': 'The API key already exists',
            '/nothing': 'There is nothing at this URL',
            '/broken': 'Something went wrong on our side',
            '/worded': 'size has no value ?, but one of: ?? 1 ?.',
            '/things/%ZZ': 'The URL cannot be decoded',
          }[url!],
        );
      }
      const socket = connect((plain.getHttpServer().address() as AddressInfo).port, '127.0.0.1');
      socket.write('no HTTP at all\r\n\r\n');
      let reply = '';
      for await (const text of socket.setEncoding('latin1')) reply += String(text);
      expect(reply).toMatch(
        /^HTTP\/1.1 400 Bad Request\r\ncontent-type: text\/plain[^]*\r\n\r\nVALIDATION_FAILED$/,
      );
    } finally {
      await plain.close();
    }
  });

  describe('unusual requests', () => {
    const send = async (head: string) => {
      const socket = connect(port, '127.0.0.1');
      socket.write(`${head}\r\nconnection: close\r\n\r\n`);
      let reply = '';
      for await (const text of socket.setEncoding('latin1')) reply += String(text);
      return reply;
    };

    it.each([
      ['without a host', 'GET /things/a HTTP/1.1', '400', 'VALIDATION_FAILED'],
      ['whose target is not a path', 'GET * HTTP/1.1\r\nhost: x', '404', 'NOT_FOUND'],
      ['that cannot be decoded', 'GET /things/%ZZ HTTP/1.1\r\nhost: x', '400', 'VALIDATION_FAILED'],
    ])("a request %s is rejected in the host's format", async (_, head, status, code) => {
      expect(await send(`${head}\r\nx-request-id: from-us`)).toMatch(
        new RegExp(`^HTTP/1.1 ${status} [^]*x-request-id: from-us\r\n[^]*"code":"${code}"`),
      );
    });

    it('HTTP/1.0 needs no host, and an unknown expectation is ignored', async () => {
      expect(await send('GET /things/a HTTP/1.0')).toMatch(/^HTTP\/1.1 200 /);
      expect(await send('GET /things/a HTTP/1.1\r\nhost: x\r\nexpect: the-unexpected')).toMatch(
        /^HTTP\/1.1 200 [^]*"thingId":"a"/,
      );
    });
  });

  describe('the address of the customer', () => {
    const ipVia = async (proxies: string, forwarded: string | undefined, remoteAddress = '127.0.0.1') => {
      const proxied = await launch({}, { TRUSTED_PROXIES: proxies });
      try {
        const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
        // Injected, because all real peers of this test are on this machine.
        return (await proxied.inject({ url: '/ip', headers, remoteAddress })).json<{ ip: string }>().ip;
      } finally {
        await proxied.close();
      }
    };

    it.each<[string, string, string | undefined, string, string]>([
      ['the peer without trusted proxies', '', '198.51.100.1', '127.0.0.1', '127.0.0.1'],
      ['the peer if it is not a trusted proxy', '10.0.0.0/8', '198.51.100.1', '203.0.113.9', '203.0.113.9'],
      ['the hop before a trusted proxy', '127.0.0.1', '198.51.100.1', '127.0.0.1', '198.51.100.1'],
      [
        'the rightmost untrusted hop',
        '127.0.0.0/8,10.0.0.0/8',
        '6.6.6.6, 198.51.100.1, 10.1.2.3',
        '127.0.0.1',
        '198.51.100.1',
      ],
      ['the peer without the header', '127.0.0.1', undefined, '127.0.0.1', '127.0.0.1'],
      [
        'one address in both notations',
        '127.0.0.1',
        '::ffff:198.51.100.1',
        '::ffff:127.0.0.1',
        '198.51.100.1',
      ],
      ['an address without its port', '127.0.0.1', '198.51.100.1:1111', '127.0.0.1', '198.51.100.1'],
      ['IPv6 without its port', '127.0.0.1', '[2001:DB8::1]:1111', '127.0.0.1', '2001:db8::1'],
      ['IPv6 without its brackets', '127.0.0.1', '[2001:db8::1]', '127.0.0.1', '2001:db8::1'],
      [
        'the hop before trusted proxies that include ports',
        '127.0.0.1,10.0.0.0/8,2001:db8::/32',
        '6.6.6.6:1, 198.51.100.1:2, 10.1.2.3:3, [2001:db8::1]:4, ::ffff:10.1.2.3',
        '127.0.0.1',
        '198.51.100.1',
      ],
      ['IPv6 in canonical form', '127.0.0.1', '2001:DB8:0:0::1', '127.0.0.1', '2001:db8::1'],
    ])('is %s', async (_, proxies, forwarded, peer, expected) => {
      expect(await ipVia(proxies, forwarded, peer)).toBe(expected);
    });

    it('has a maximum length, whatever a proxy sends', async () => {
      for (const forwarded of ['x'.repeat(500), `[${'x'.repeat(500)}]:1`])
        expect((await ipVia('127.0.0.1', forwarded)).length).toBeLessThanOrEqual(64);
    });
  });

  it('finishes requests and closes its connections on shutdown', async () => {
    let arrive!: () => void;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    @Controller()
    class SlowController {
      @Get('slow')
      slow() {
        arrive();
        return new Promise((resolve) => setTimeout(() => resolve({ done: true }), 500));
      }
    }
    @Module({ controllers: [SlowController] })
    class SlowModule {}
    const stopping = await launch({ module: SlowModule });
    const address = stopping.getHttpServer().address() as AddressInfo;
    const idle = connect(address.port, '127.0.0.1');
    const idleClosed = new Promise((resolve) => idle.on('close', resolve));
    idle.resume().write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    // Load balancers open spare connections in advance.
    const silent = connect(address.port, '127.0.0.1').resume();
    const silentClosed = new Promise((resolve) => silent.on('close', resolve));
    const slowStatus = http(stopping)
      .get('/slow')
      .then(({ status }) => status);
    await arrived;
    const startedAt = Date.now();
    await stopping.close();
    expect(await slowStatus).toBe(200);
    await idleClosed;
    await silentClosed;
    // The clients keep their connections open for longer.
    expect(Date.now() - startedAt).toBeLessThan(15_000);
  });
});
