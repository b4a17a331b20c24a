import {
  applyDecorators,
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Inject,
  Post,
  Query,
  type Type,
} from '@nestjs/common';
import {
  ApiBody,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { ApiProblems } from '@perkway/platform';
import { CurrentCaller, type QueryCaller } from '../access/token.guard.js';
import { DRY_RUN_EXAMPLE, LOAD_EXAMPLE, META_EXAMPLE, QUERY_EXAMPLE, SQL_EXAMPLE } from './api-examples.js';
import {
  DryRunResult,
  LoadResult,
  LoadResults,
  MetaResult,
  QueryRequest,
  QuerySchema,
  SqlResult,
} from './api-schemas.js';
import { Hangup } from './hangup.decorator.js';
import { LoadService } from './load.service.js';
import { readGet, readPost } from './request-query.js';

/** The bodies of answers come as bytes, small ones whole and large ones as they are made. */
const SendsJson = () => Header('content-type', 'application/json; charset=utf-8');

const ApiAnswer = (description: string, schema: object, example: object) =>
  ApiOkResponse({ description, content: { 'application/json': { schema, example } } });
const ref = (schema: Type) => ({ $ref: getSchemaPath(schema) });

const ApiLoad = () =>
  applyDecorators(
    ApiOperation({ summary: 'Answers a query' }),
    SendsJson(),
    ApiAnswer(
      'The rows; with `queryType=multi` a list of results',
      { oneOf: [ref(LoadResult), ref(LoadResults)] },
      LOAD_EXAMPLE,
    ),
  );
const ApiSql = () =>
  applyDecorators(
    ApiOperation({ summary: 'The SQL that a query becomes' }),
    ApiAnswer(
      'The statement; for compared and blended queries a list',
      { oneOf: [ref(SqlResult), { type: 'array', items: ref(SqlResult) }] },
      SQL_EXAMPLE,
    ),
  );
const ApiDryRun = () =>
  applyDecorators(
    ApiOperation({ summary: 'Checks a query without running it' }),
    ApiAnswer('What would be asked', ref(DryRunResult), DRY_RUN_EXAMPLE),
  );

/** A query in the address, for those that are short enough. */
const ByGet = (path: string) =>
  applyDecorators(
    Get(path),
    ApiQuery({
      name: 'query',
      description: 'The query as JSON',
      schema: { type: 'string' },
    }),
  );
/** A query of any length in the body. It creates nothing, so it answers 200. */
const ByPost = (path: string) =>
  applyDecorators(
    Post(path),
    HttpCode(200),
    ApiBody({ type: QueryRequest, examples: { query: { value: { query: QUERY_EXAMPLE } } } }),
  );
const ApiQueryType = () =>
  ApiQuery({
    name: 'queryType',
    required: false,
    description: 'The client takes several results (compared date ranges, blended queries)',
    schema: { type: 'string', enum: ['multi'] },
  });

/** The Cube-compatible REST API (specification section 4.1). */
@ApiTags('Analytics')
@ApiExtraModels(QuerySchema, LoadResult, LoadResults, SqlResult, DryRunResult)
@ApiProblems('VALIDATION_FAILED', 'TOO_MANY_REQUESTS')
@Controller('cubejs-api/v1')
export class CubeApiController {
  constructor(@Inject(LoadService) private readonly service: LoadService) {}

  @Get('meta')
  @ApiOperation({
    summary: 'The cubes and their members',
    description:
      'Lists a dimension `cmeta_<name>` for each custom attribute that the account has used, `-` written as `_`.',
  })
  @ApiQuery({
    name: 'onlyViews',
    required: false,
    description: '`true`: views only, of which there are none',
    schema: { type: 'string' },
  })
  @ApiAnswer('The model of the account', ref(MetaResult), META_EXAMPLE)
  @ApiExtraModels(MetaResult)
  getMeta(
    @CurrentCaller() caller: QueryCaller,
    @Hangup() gone: AbortSignal,
    @Query('onlyViews') onlyViews?: unknown,
  ) {
    return onlyViews === 'true' ? { cubes: [] } : this.service.meta(caller, gone);
  }

  @ByGet('load')
  @ApiLoad()
  @ApiQueryType()
  load(
    @CurrentCaller() caller: QueryCaller,
    @Query() params: Record<string, unknown>,
    @Hangup() gone: AbortSignal,
  ) {
    const { query, isMulti } = readGet(params);
    return this.service.load(caller, query, isMulti, gone);
  }

  @ByPost('load')
  @ApiLoad()
  loadByPost(@CurrentCaller() caller: QueryCaller, @Body() body: unknown, @Hangup() gone: AbortSignal) {
    const { query, isMulti } = readPost(body);
    return this.service.load(caller, query, isMulti, gone);
  }

  /** Over HTTP a subscription is one answer. */
  @ByGet('subscribe')
  @ApiLoad()
  @ApiQueryType()
  subscribe(
    @CurrentCaller() caller: QueryCaller,
    @Query() params: Record<string, unknown>,
    @Hangup() gone: AbortSignal,
  ) {
    return this.load(caller, params, gone);
  }

  @ByPost('subscribe')
  @ApiLoad()
  subscribeByPost(@CurrentCaller() caller: QueryCaller, @Body() body: unknown, @Hangup() gone: AbortSignal) {
    return this.loadByPost(caller, body, gone);
  }

  @ByGet('sql')
  @ApiSql()
  sql(
    @CurrentCaller() caller: QueryCaller,
    @Query() params: Record<string, unknown>,
    @Hangup() gone: AbortSignal,
  ) {
    return this.service.sql(caller, readGet(params).query, gone);
  }

  @ByPost('sql')
  @ApiSql()
  sqlByPost(@CurrentCaller() caller: QueryCaller, @Body() body: unknown, @Hangup() gone: AbortSignal) {
    return this.service.sql(caller, readPost(body).query, gone);
  }

  @ByGet('dry-run')
  @ApiDryRun()
  dryRun(
    @CurrentCaller() caller: QueryCaller,
    @Query() params: Record<string, unknown>,
    @Hangup() gone: AbortSignal,
  ) {
    return this.service.dryRun(caller, readGet(params).query, gone);
  }

  @ByPost('dry-run')
  @ApiDryRun()
  dryRunByPost(@CurrentCaller() caller: QueryCaller, @Body() body: unknown, @Hangup() gone: AbortSignal) {
    return this.service.dryRun(caller, readPost(body).query, gone);
  }
}
