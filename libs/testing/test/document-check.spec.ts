import { Controller, Get, Module, Query, Res } from '@nestjs/common';
import { ApiProperty, ApiResponse } from '@nestjs/swagger';
import { ApiError } from '@perkway/domain';
import { ApiProblems, loadEnv, platformEnv } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { http, launchApp } from '../src/index.js';

class Thing {
  @ApiProperty()
  name: string;
}

@Controller('things')
class ThingsController {
  @Get()
  @ApiResponse({ status: 200, type: Thing })
  @ApiProblems('KEY_EXISTS')
  getThing(@Query('as') as: string, @Res({ passthrough: true }) reply: FastifyReply) {
    if (as === 'refusal') throw new ApiError('KEY_EXISTS');
    if (as === 'surprise') throw new ApiError('KEY_NOT_FOUND');
    if (as === 'fault') throw new Error('not expected');
    if (as === 'text') void reply.header('content-type', 'text/plain');
    return { number: { name: 7 }, member: { name: 'x', other: 1 }, text: 'x' }[as] ?? { name: 'x' };
  }
}
@Module({ controllers: [ThingsController] })
class ThingsModule {}

/** Sends one request and returns the error of closing the app. */
async function problemOf(as: string): Promise<string> {
  const app = await launchApp({
    name: 'things',
    module: ThingsModule,
    env: loadEnv(platformEnv, { PORT: '1', NATS_URL: 'nats://127.0.0.1:9' }),
    openapi: { title: 'Things', description: 'For the test.', url: 'https://things.example' },
  });
  await http(app).get(`/things?as=${as}`);
  return app.close().then(
    () => '',
    (error: Error) => error.message,
  );
}

describe('an app whose responses are compared with its document', () => {
  it.each(['thing', 'refusal', 'fault'])('may respond with a %s', async (as) => {
    expect(await problemOf(as)).toBe('');
  });

  it.each([
    ['surprise', 'GET /things 404 does not match the OpenAPI document: undocumented status'],
    ['number', 'GET /things 200 does not match the OpenAPI document: /name must be string {"type":"string"}'],
    ['member', expect.stringContaining('{"additionalProperty":"other"}')],
    ['text', 'GET /things 200 does not match the OpenAPI document: undocumented content type text/plain'],
  ])('fails the test on a wrong response: %s', async (as, problem) => {
    expect(await problemOf(as)).toEqual(problem);
  });
});
