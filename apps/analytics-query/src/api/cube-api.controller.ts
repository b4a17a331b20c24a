import { applyDecorators, Controller, Get, Header, HttpCode, Post, Query, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiExtraModels,
  ApiOperation,
  ApiQuery,
  ApiResponse,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { ApiProblems, ParsesBody } from '@perkway/platform';
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
import { ResponseContextOf, type ResponseContext } from './response-context.decorator.js';
import { RequestSignal } from './request-signal.decorator.js';
import { LoadService } from './load.service.js';
import { QueryReader, type ReadQuery } from './request-query.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

const ApiResponseText = (description: string, schema: object, example: object) =>
  ApiResponse({ status: 200, description, content: { 'application/json': { schema, example } } });
const ref = (schema: Type) => ({ $ref: getSchemaPath(schema) });

const ApiLoad = () =>
  applyDecorators(
    ApiOperation({ summary: 'Run a query' }),
    Header('vary', 'Accept'),
    ApiResponse({
      status: 200,
      description:
        'The rows; with `queryType=multi` an array of results. As `text/csv` (RFC 4180) if `Accept` asks for it: the header row names the members, ' +
        'and a cell that a spreadsheet would run as a formula begins with an apostrophe',
      content: {
        'application/json': { schema: { oneOf: [ref(LoadResult), ref(LoadResults)] }, example: LOAD_EXAMPLE },
        'text/csv': { schema: { type: 'string' }, example: LOAD_CSV_EXAMPLE },
      },
    }),
  );
const ApiSql = () =>
  applyDecorators(
    Header('content-type', JSON_TYPE),
    ApiOperation({ summary: 'Get the SQL of a query' }),
    ApiResponseText(
      'The statement; for compared and blended queries an array',
      { oneOf: [ref(SqlResult), { type: 'array', items: ref(SqlResult) }] },
      SQL_EXAMPLE,
    ),
  );
const ApiDryRun = () =>
  applyDecorators(
    Header('content-type', JSON_TYPE),
    ApiOperation({ summary: 'Validate a query without running it' }),
    ApiResponseText('The normalized queries', ref(DryRunResult), DRY_RUN_EXAMPLE),
  );

/** Declares a GET route with the query in the URL, for queries short enough to fit. */
const ByGet = (path: string) =>
  applyDecorators(
    Get(path),
    ApiQuery({
      name: 'query',
      description: 'The query as JSON',
      schema: { type: 'string' },
    }),
  );
/**
 * Declares a POST route with the query in the body, for queries of any length. Nothing is created, so the status is
 * 200.
 */
const ByPost = (path: string) =>
  applyDecorators(
    Post(path),
    ParsesBody(),
    HttpCode(200),
    ApiBody({ type: QueryRequest, examples: { query: { value: { query: QUERY_EXAMPLE } } } }),
  );
const ApiQueryType = () =>
  ApiQuery({
    name: 'queryType',
    required: false,
    description: 'Set if the client accepts several results (compared date ranges, blended queries)',
    schema: { type: 'string', enum: ['multi'] },
  });

/** The Cube-compatible REST API (specification section 4.1). */
@ApiTags('Analytics')
@ApiExtraModels(QuerySchema, LoadResult, LoadResults, SqlResult, DryRunResult)
@ApiProblems('VALIDATION_FAILED', 'TOO_MANY_REQUESTS')
@Controller('cubejs-api/v1')
export class CubeApiController {
  constructor(private readonly service: LoadService) {}

  @Get('meta')
  @Header('content-type', JSON_TYPE)
  @ApiOperation({
    summary: 'List the cubes and their members',
    description:
      'Lists a dimension `cmeta_<name>` for each of the first 1,000 custom attributes used in calls with a USER or ADMIN key, and for up to 50 seen only in public requests (clicks, pixels, calls with a JOURNEY key); `-` is written as `_`.',
  })
  @ApiQuery({
    name: 'onlyViews',
    required: false,
    description: '`true` lists only views. There are none.',
    schema: { type: 'string' },
  })
  @ApiQuery({
    name: 'extended',
    required: false,
    description: 'Any value except `false` adds the SQL of cubes and members',
    schema: { type: 'string' },
  })
  @ApiResponseText('The model of the account', ref(MetaResult), META_EXAMPLE)
  @ApiExtraModels(MetaResult)
  getMeta(
    @CurrentCaller() caller: QueryCaller,
    @RequestSignal() gone: AbortSignal,
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
    @QueryReader() read: ReadQuery,
    @ResponseContextOf() context: ResponseContext,
  ) {
    return this.respond(caller, read, context);
  }

  @ByPost('load')
  @ApiLoad()
  loadByPost(
    @CurrentCaller() caller: QueryCaller,
    @QueryReader() read: ReadQuery,
    @ResponseContextOf() context: ResponseContext,
  ) {
    return this.respond(caller, read, context);
  }

  /** Responds once, like `load`: a subscription gets no further responses over HTTP. */
  @ByGet('subscribe')
  @ApiLoad()
  @ApiQueryType()
  subscribe(
    @CurrentCaller() caller: QueryCaller,
    @QueryReader() read: ReadQuery,
    @ResponseContextOf() context: ResponseContext,
  ) {
    return this.load(caller, read, context);
  }

  @ByPost('subscribe')
  @ApiLoad()
  subscribeByPost(
    @CurrentCaller() caller: QueryCaller,
    @QueryReader() read: ReadQuery,
    @ResponseContextOf() context: ResponseContext,
  ) {
    return this.loadByPost(caller, read, context);
  }

  @ByGet('sql')
  @ApiSql()
  sql(
    @CurrentCaller() caller: QueryCaller,
    @QueryReader() read: ReadQuery,
    @RequestSignal() gone: AbortSignal,
  ) {
    return this.service.sql(caller, read, gone);
  }

  @ByPost('sql')
  @ApiSql()
  sqlByPost(
    @CurrentCaller() caller: QueryCaller,
    @QueryReader() read: ReadQuery,
    @RequestSignal() gone: AbortSignal,
  ) {
    return this.service.sql(caller, read, gone);
  }

  @ByGet('dry-run')
  @ApiDryRun()
  dryRun(
    @CurrentCaller() caller: QueryCaller,
    @QueryReader() read: ReadQuery,
    @RequestSignal() gone: AbortSignal,
  ) {
    return this.service.dryRun(caller, read, gone);
  }

  @ByPost('dry-run')
  @ApiDryRun()
  dryRunByPost(
    @CurrentCaller() caller: QueryCaller,
    @QueryReader() read: ReadQuery,
    @RequestSignal() gone: AbortSignal,
  ) {
    return this.service.dryRun(caller, read, gone);
  }

  /** Returns the body: a buffer for a small response, a stream for a large one. */
  private async respond(caller: QueryCaller, read: ReadQuery, { gone, wantsCsv, reply }: ResponseContext) {
    const body = await this.service.load(caller, read, wantsCsv, gone);
    void reply.header('content-type', wantsCsv ? CSV_TYPE : JSON_TYPE);
    return body;
  }
}
