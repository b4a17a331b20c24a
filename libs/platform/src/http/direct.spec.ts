import {
  Controller,
  Get,
  Header,
  Module,
  Param,
  Req,
  Res,
  UseGuards,
  UseInterceptors,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiError } from '@perkway/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import request from 'supertest';
import { loadEnv, platformEnv } from '../config/load-env.js';
import { createApp } from '../create-app.js';
import { createLogger } from '../logging/logger.js';
import { Direct } from './direct.js';
import { Public } from './public.decorator.js';

const passes = { canActivate: () => true };
const intercepts: NestInterceptor = { intercept: (_, next) => next.handle() };

/** Does what the header `x-guard` says, and notes which handler it guards. */
class HeaderGuard implements CanActivate {
  static readonly seen: string[] = [];

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    HeaderGuard.seen.push(`${context.getClass().name}.${context.getHandler().name}`);
    const wish = context.switchToHttp().getRequest<FastifyRequest>().headers['x-guard'];
    if (wish === 'throw') throw new ApiError('API_KEY_INVALID');
    if (wish === 'reject') return Promise.reject(new ApiError('API_KEY_INVALID'));
    if (wish === 'later') return Promise.resolve(true);
    if (wish === 'later no') return Promise.resolve(false);
    return wish !== 'no';
  }
}

@Controller('direct')
class DirectController {
  readonly word = 'hello';
  static calls = 0;

  @Public()
  @Direct()
  @Get('words/:id')
  say(@Req() { params }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> | void {
    DirectController.calls += 1;
    const { id } = params as { id: string };
    if (id === 'throws') throw new ApiError('PERK_NOT_FOUND');
    if (id === 'rejects') return Promise.reject(new ApiError('PERK_NOT_FOUND'));
    if (id === 'breaks') return Promise.reject(new Error('a fault'));
    void reply.send(`${this.word} ${id}`);
  }
}

describe('@Direct()', () => {
  const logs: string[] = [];
  const launch = async (controller: Type, providers: object[] = []): Promise<NestFastifyApplication> => {
    @Module({ controllers: [controller], providers: providers as [] })
    class ProbeModule {}
    return createApp({
      name: 'probe',
      module: ProbeModule,
      env: loadEnv(platformEnv, { PORT: '1', NATS_URL: 'nats://127.0.0.1:1' }),
      logger: createLogger('probe', 'debug', { write: (line) => void logs.push(line) }),
    });
  };

  describe('a direct handler', () => {
    let app: NestFastifyApplication;
    const get = (path: string, headers: Record<string, string> = {}) =>
      request(app.getHttpServer()).get(path).set(headers);

    beforeAll(async () => {
      app = await launch(DirectController, [{ provide: APP_GUARD, useClass: HeaderGuard }]);
      await app.listen(0, '127.0.0.1');
    });
    afterAll(() => app.close());
    beforeEach(() => {
      logs.splice(0);
      HeaderGuard.seen.splice(0);
      DirectController.calls = 0;
    });

    it('gets the request and the reply, for GET and HEAD', async () => {
      const response = await get('/direct/words/you');
      expect([response.status, response.text]).toEqual([200, 'hello you']);
      const head = await request(app.getHttpServer()).head('/direct/words/you');
      expect([head.status, head.headers['content-length']]).toEqual([200, '9']);
      expect(HeaderGuard.seen).toEqual(['DirectController.say', 'DirectController.say']);
    });

    it.each([
      ['throw', 401],
      ['reject', 401],
      ['no', 403],
      ['later no', 403],
    ])('is not called if a guard of the app says %s', async (wish, status) => {
      expect((await get('/direct/words/you', { 'x-guard': wish })).status).toBe(status);
      expect(DirectController.calls).toBe(0);
    });

    it('is called once a guard has resolved', async () => {
      expect((await get('/direct/words/you', { 'x-guard': 'later' })).text).toBe('hello you');
      expect((await get('/direct/words/rejects', { 'x-guard': 'later' })).status).toBe(404);
      expect(DirectController.calls).toBe(2);
    });

    it.each([
      ['throws', 404, 'PERK_NOT_FOUND'],
      ['rejects', 404, 'PERK_NOT_FOUND'],
      ['breaks', 500, 'INTERNAL_ERROR'],
    ])('that %s responds with the error of the host', async (id, status, code) => {
      const response = await get(`/direct/words/${id}`);
      expect([response.status, response.body]).toEqual([status, expect.objectContaining({ code })]);
    });

    it('is not called with an empty path parameter', async () => {
      expect((await get('/direct/words/')).status).toBe(404);
      expect(DirectController.calls).toBe(0);
    });

    it('has a request id, a log line and a metric', async () => {
      const response = await get('/direct/words/throws', { 'x-request-id': 'r-1' });
      expect(response.headers['x-request-id']).toBe('r-1');
      const lines = logs.map((line) => JSON.parse(line) as object);
      expect(lines).toContainEqual(
        expect.objectContaining({ requestId: 'r-1', route: '/direct/words/:id', status: 404 }),
      );
      expect((await get('/metrics')).text).toMatch(
        /http_request_duration_seconds_count\{.*route="\/direct\/words\/:id".*status="404"/,
      );
    });
  });

  describe('refuses to start', () => {
    it.each<[string, () => Type]>([
      [
        'a local guard',
        () => {
          @Controller()
          class Guarded {
            @UseGuards(passes)
            @Direct()
            @Get('x')
            run(@Req() _: FastifyRequest, @Res() reply: FastifyReply): void {
              void reply.send('x');
            }
          }
          return Guarded;
        },
      ],
      [
        'an interceptor of the controller',
        () => {
          @UseInterceptors(intercepts)
          @Controller()
          class Intercepted {
            @Direct()
            @Get('x')
            run(@Req() _: FastifyRequest, @Res() reply: FastifyReply): void {
              void reply.send('x');
            }
          }
          return Intercepted;
        },
      ],
      [
        'a parameter with a pipe',
        () => {
          @Controller()
          class Piped {
            @Direct()
            @Get('x/:id')
            run(@Param('id', { transform: String }) _: never, @Res() reply: FastifyReply): void {
              void reply.send('x');
            }
          }
          return Piped;
        },
      ],
      [
        'a header that Nest would set',
        () => {
          @Controller()
          class Headed {
            @Header('cache-control', 'no-store')
            @Direct()
            @Get('x')
            run(@Req() _: FastifyRequest, @Res() reply: FastifyReply): void {
              void reply.send('x');
            }
          }
          return Headed;
        },
      ],
    ])('with %s', async (_, controller) => {
      await expect(launch(controller())).rejects.toThrow(/\.run is @Direct\(\), so it cannot have/);
    });

    it('with an interceptor of the app', async () => {
      await expect(
        launch(DirectController, [{ provide: APP_INTERCEPTOR, useValue: intercepts }]),
      ).rejects.toThrow(/DirectController\.say is @Direct\(\), so it cannot have interceptors of the app/);
    });
  });
});
