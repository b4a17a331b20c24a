import { Body, Controller, Get, Module, Param, Post, SetMetadata } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { IsInt } from 'class-validator';
import { loadEnv, platformEnv } from '../config/load-env.js';
import { makeAppDocument } from '../create-app.js';
import {
  renderCubeError,
  renderPlainCode,
  renderProblem,
  type ErrorRenderer,
} from '../errors/error-renderer.js';
import { IsOmittable } from '../errors/is-omittable.js';
import { IsText } from '../errors/is-text.js';
import { CallerIdPipe } from '../errors/caller-id.js';
import { Public } from '../http/public.decorator.js';
import { ApiProblems } from './api-problems.js';
import { CREDENTIALS, type Credentials } from './credentials.js';

class ThingDto {
  @ApiProperty({ example: 'A thing' })
  @IsText(1, 10)
  name: string;
  @ApiProperty({ type: 'integer' })
  @IsOmittable()
  @IsInt()
  rank?: number | null;
  @ApiProperty({ enum: ['big', 'small'] })
  @IsOmittable()
  size?: string | null;
  @ApiProperty({ type: () => ThingDto })
  @IsOmittable()
  part?: ThingDto | null;
}

const OPEN = 'open';

@ApiProblems('KEY_EXISTS')
@Controller('things')
class ThingsController {
  @Post()
  @ApiOperation({ summary: 'Create a thing' })
  @ApiProblems('PERK_IS_NOT_IN_CAMPAIGN')
  makeThing(@Body() body: ThingDto) {
    return body;
  }

  @Get(':thingId/parts/:number')
  @ApiQuery({ name: 'needed', required: true })
  @ApiQuery({ name: 'possible', required: false })
  @ApiResponse({ status: 200, description: 'The part', type: ThingDto })
  getPart(@Param('thingId', CallerIdPipe) thingId: string, @Param('number') number: string) {
    return { thingId, number };
  }

  @Get('open')
  @SetMetadata(OPEN, true)
  getOpen() {}
}

/** Describes a guard that leaves some handlers open. */
const credentials: Credentials = {
  name: 'ticket',
  scheme: { type: 'apiKey', in: 'header', name: 'X-Ticket' },
  requirementsOf: ([handler]) =>
    Reflect.getMetadata(OPEN, handler)
      ? undefined
      : {
          errors: ['API_KEY_INVALID', 'TOO_MANY_REQUESTS'],
          parameters: [{ name: 'ticket', in: 'query', required: false, schema: { type: 'string' } }],
          headers: { 'X-Left': { schema: { type: 'integer' } } },
        },
};

@Module({ controllers: [ThingsController], providers: [{ provide: CREDENTIALS, useValue: credentials }] })
class ThingsModule {}

async function documentOf(errors?: ErrorRenderer, module: object = ThingsModule) {
  const document = await makeAppDocument({
    name: 'things',
    module: module as never,
    env: loadEnv(platformEnv, { PORT: '1', NATS_URL: 'nats://127.0.0.1:1' }),
    errors,
    openapi: {
      title: 'Things',
      description: 'Of the test.',
      url: 'https://things.example',
      examples: { thingId: 'a-thing', number: '7', possible: 'never', needed: 'yes' },
    },
  });
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- whatever is not there fails the test
  return document as any;
}

describe('an OpenAPI document', () => {
  it('names operations after their handlers', async () => {
    const { paths } = await documentOf();
    expect(paths['/things'].post.operationId).toBe('makeThing');
  });

  it('documents credentials, headers and public handlers of the guard', async () => {
    const { components, paths } = await documentOf();
    expect(components.securitySchemes).toEqual({ ticket: credentials.scheme });
    const { security, parameters, responses } = paths['/things'].post;
    expect(security).toEqual([{ ticket: [] }]);
    expect(parameters).toEqual([
      { name: 'ticket', in: 'query', required: false, schema: { type: 'string' } },
    ]);
    expect(responses['201'].headers).toEqual({ 'X-Left': { schema: { type: 'integer' } } });
    expect(Object.keys(responses['429'].headers).sort()).toEqual(['Retry-After', 'X-Left']);
    expect(paths['/things/open'].get).toMatchObject({ security: [], parameters: [] });
    expect(Object.keys(paths['/things/open'].get.responses)).toEqual(['200', '409']);
  });

  it('documents the errors of bodies and ids', async () => {
    const { paths } = await documentOf();
    expect(Object.keys(paths['/things'].post.responses)).toEqual([
      '201',
      '400',
      '401',
      '409',
      '413',
      '415',
      '429',
    ]);
    const refused = paths['/things'].post.responses['400'].content['application/problem+json'];
    expect(Object.keys(refused.examples)).toEqual(['PERK_IS_NOT_IN_CAMPAIGN', 'VALIDATION_FAILED']);
    expect(refused.examples.VALIDATION_FAILED.value.errors).toEqual([
      { field: 'name', message: 'must be of type string' },
    ]);
    const { responses } = paths['/things/{thingId}/parts/{number}'].get;
    expect(Object.keys(responses)).toEqual(['200', '400', '401', '409', '429']);
  });

  it('has examples for ids and required parameters only', async () => {
    const { paths } = await documentOf();
    const { parameters } = paths['/things/{thingId}/parts/{number}'].get;
    expect(
      Object.fromEntries(
        parameters.map(
          ({ name, example, schema }: { name: string; example?: string; schema: { pattern?: string } }) => [
            name,
            [example, schema.pattern !== undefined],
          ],
        ),
      ),
    ).toEqual({
      thingId: ['a-thing', true],
      number: ['7', false],
      needed: ['yes', false],
      possible: [undefined, false],
      ticket: [undefined, false],
    });
  });

  it.each([
    ['problems', renderProblem, 'application/problem+json', { $ref: '#/components/schemas/Problem' }],
    ['codes', renderPlainCode, 'text/plain', { type: 'string', enum: ['KEY_EXISTS'] }],
    ['Cube errors', renderCubeError, 'application/json', { $ref: '#/components/schemas/QueryError' }],
  ])("documents errors in the host's format: %s", async (_, render, type, schema) => {
    const { paths } = await documentOf(render);
    const refusal = paths['/things/open'].get.responses['409'];
    expect(refusal.description).toBe('`KEY_EXISTS`: The API key already exists');
    expect(Object.keys(refusal.headers ?? {})).toEqual(type === 'text/plain' ? ['Perkway-Detail'] : []);
    expect(refusal.content).toEqual({ [type]: { schema, examples: { KEY_EXISTS: expect.any(Object) } } });
  });

  it('documents a page for browsers next to data for programs', async () => {
    const { paths } = await documentOf((error, id, requested) =>
      requested?.accept === 'text/html' && requested.address === '/things/open'
        ? { contentType: 'text/html; charset=utf-8', body: '<p>', status: 404 }
        : renderProblem(error, id),
    );
    const { responses } = paths['/things/open'].get;
    expect(Object.keys(responses)).toEqual(['200', '404', '409']);
    expect(responses['404'].content).toEqual({
      'text/html': {
        schema: { type: 'string' },
        examples: { KEY_EXISTS: expect.objectContaining({ value: '<p>' }) },
      },
    });
  });

  it('documents nullable members as nullable', async () => {
    const { components } = await documentOf();
    const thing = {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 10, example: 'A thing' },
        rank: { type: 'integer', nullable: true },
        size: { type: 'string', nullable: true, enum: ['big', 'small', null] },
        part: { allOf: [{ $ref: '#/components/schemas/ThingDtoOrNull' }] },
      },
    };
    expect(components.schemas.ThingDto).toEqual(thing);
    expect(components.schemas.ThingDtoOrNull).toEqual({ ...thing, nullable: true });
  });

  it('builds an example of a body from those of its members', async () => {
    const { paths } = await documentOf();
    expect(paths['/things'].post.requestBody.content['application/json'].example).toEqual({
      name: 'A thing',
      size: 'big',
      part: { name: 'A thing', size: 'big' },
    });
  });

  it('cannot be built if two handlers share a name', async () => {
    @Controller('others')
    class OthersController {
      @Get()
      @Public()
      getOpen() {}
    }
    @Module({ controllers: [OthersController], imports: [ThingsModule] })
    class OthersModule {}
    await expect(documentOf(undefined, OthersModule)).rejects.toThrow('getOpen');
  });
});
