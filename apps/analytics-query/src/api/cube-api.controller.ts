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
import {
  DRY_RUN_EXAMPLE,
  LOAD_CSV_EXAMPLE,
  LOAD_EXAMPLE,
  META_EXAMPLE,
  QUERY_EXAMPLE,
  SQL_EXAMPLE,
} from './api-examples.js';
import {
  DryRunResult,
  LoadResult,
  LoadResults,
  MetaResult,
  QueryRequest,
  QuerySchema,
  SqlResult,
} from './api-schemas.js';
import { Answering, type AnsweringRequest } from './answering.decorator.js';
import { Hangup } from './hangup.decorator.js';
import { LoadService } from './load.service.js';
import { readGet, readPost } from './request-query.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

const ApiAnswer = (description: string, schema: object, example: object) =>
  ApiOkResponse({ description, content: { 'application/json': { schema, example } } });
const ref = (schema: Type) => ({ $ref: getSchemaPath(schema) });

const ApiLoad = () =>
  applyDecorators(
    ApiOperation({ summary: 'Answers a query' }),
    Header('vary', 'Accept'),
    ApiOkResponse({
      description:
        'The rows; with `queryType=multi` a list of results. As `text/csv` (RFC 4180) where `Accept` asks for it: members as header, ' +
        'a cell that a spreadsheet would run as a formula begins with an apostrophe',
      content: {
        'application/json': { schema: { oneOf: [ref(LoadResult), ref(LoadResults)] }, example: LOAD_EXAMPLE },
        'text/csv': { schema: { type: 'string' }, example: LOAD_CSV_EXAMPLE },
      },
    }),
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
  @ApiQuery({
    name: 'extended',
    required: false,
    description: 'There, whatever its value: with the SQL of cubes and members',
    schema: { type: 'string' },
  })
  @ApiAnswer('The model of the account', ref(MetaResult), META_EXAMPLE)
  @ApiExtraModels(MetaResult)
  getMeta(
    @CurrentCaller() caller: QueryCaller,
    @Hangup() gone: AbortSignal,
    @Query('onlyViews') onlyViews?: unknown,
    @Query('extended') extended?: unknown,
  ) {
    if (onlyViews === 'true') return { cubes: [] };
    return this.service.meta(caller, extended !== undefined && extended !== 'false', gone);
  }

  @ByGet('load')
  @ApiLoad()
  @ApiQueryType()
  load(
    @CurrentCaller() caller: QueryCaller,
    @Query() params: Record<string, unknown>,
    @Answering() answering: AnsweringRequest,
  ) {
    return this.answer(caller, readGet(params), answering);
  }

  @ByPost('load')
  @ApiLoad()
  loadByPost(
    @CurrentCaller() caller: QueryCaller,
    @Body() body: unknown,
    @Answering() answering: AnsweringRequest,
  ) {
    return this.answer(caller, readPost(body), answering);
  }

  /** Over HTTP a subscription is one answer. */
  @ByGet('subscribe')
  @ApiLoad()
  @ApiQueryType()
  subscribe(
    @CurrentCaller() caller: QueryCaller,
    @Query() params: Record<string, unknown>,
    @Answering() answering: AnsweringRequest,
  ) {
    return this.load(caller, params, answering);
  }

  @ByPost('subscribe')
  @ApiLoad()
  subscribeByPost(
    @CurrentCaller() caller: QueryCaller,
    @Body() body: unknown,
    @Answering() answering: AnsweringRequest,
  ) {
    return this.loadByPost(caller, body, answering);
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

  /** The bodies of answers come as bytes, small ones whole and large ones as they are made. */
  private async answer(
    caller: QueryCaller,
    { query, isMulti }: { query: unknown; isMulti: boolean },
    { gone, wantsCsv, reply }: AnsweringRequest,
  ) {
    const format = wantsCsv ? 'csv' : isMulti ? 'multi' : 'single';
    const body = await this.service.load(caller, query, format, gone);
    void reply.header('content-type', wantsCsv ? CSV_TYPE : JSON_TYPE);
    return body;
  }
}
