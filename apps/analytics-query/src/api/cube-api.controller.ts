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
} from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiQuery, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ApiCubeErrors } from '@perkway/platform';
import { CurrentCaller, type QueryCaller } from '../access/token.guard.js';
import { DRY_RUN_EXAMPLE, LOAD_EXAMPLE, META_EXAMPLE, QUERY_EXAMPLE, SQL_EXAMPLE } from './api-examples.js';
import { Hangup } from './hangup.decorator.js';
import { LoadService } from './load.service.js';
import { readGet, readPost } from './request-query.js';

/** The bodies of answers come as bytes, small ones whole and large ones as they are made. */
const JSON_TYPE = 'application/json; charset=utf-8';

const QUERY_TYPE = {
  name: 'queryType',
  required: false,
  description: '`multi`: the client takes several results (compared date ranges, blended queries)',
};

/** A query in the address. */
const ByGet = (operationId: string, summary: string, example: object) =>
  applyDecorators(
    ApiOperation({ operationId, summary, description: 'For queries short enough for an address.' }),
    ApiQuery({ name: 'query', description: 'The query as JSON', example: JSON.stringify(QUERY_EXAMPLE) }),
    ApiOkResponse({ schema: { type: 'object', example } }),
    ApiCubeErrors('VALIDATION_FAILED', 'TOO_MANY_REQUESTS'),
  );

/** A query in the body; POST creates nothing, so it answers 200. */
const ByPost = (operationId: string, summary: string, example: object) =>
  applyDecorators(
    HttpCode(200),
    ApiOperation({
      operationId: `${operationId}ByPost`,
      summary,
      description: 'As GET, for queries of any length.',
    }),
    ApiBody({
      schema: {
        type: 'object',
        required: ['query'],
        properties: {
          query: { description: 'A query, a list of queries to blend, or either as JSON text' },
          queryType: { type: 'string', enum: ['multi'] },
        },
        example: { query: QUERY_EXAMPLE },
      },
    }),
    ApiOkResponse({ schema: { type: 'object', example } }),
    ApiCubeErrors('VALIDATION_FAILED', 'TOO_MANY_REQUESTS', 'PAYLOAD_TOO_LARGE'),
  );

/** The Cube-compatible REST API (specification section 4.1). */
@ApiTags('Analytics')
@ApiSecurity('analyticsToken')
@ApiCubeErrors('API_KEY_INVALID', 'DEPENDENCY_UNAVAILABLE')
@Controller('cubejs-api/v1')
export class CubeApiController {
  constructor(@Inject(LoadService) private readonly service: LoadService) {}

  @Get('meta')
  @ApiOperation({
    operationId: 'getMeta',
    summary: 'The cubes and their members',
    description:
      'Lists a dimension `cmeta_<name>` for each custom attribute that the account has used, `-` written as `_`.',
  })
  @ApiOkResponse({ schema: { type: 'object', example: META_EXAMPLE } })
  @ApiQuery({
    name: 'onlyViews',
    required: false,
    description: '`true`: views only, of which there are none',
  })
  @ApiCubeErrors('TOO_MANY_REQUESTS')
  meta(
    @CurrentCaller() caller: QueryCaller,
    @Hangup() gone: AbortSignal,
    @Query('onlyViews') onlyViews?: unknown,
  ) {
    return onlyViews === 'true' ? { cubes: [] } : this.service.meta(caller, gone);
  }

  @Get('load')
  @ByGet('load', 'Answers a query', LOAD_EXAMPLE)
  @ApiQuery(QUERY_TYPE)
  @Header('content-type', JSON_TYPE)
  load(
    @CurrentCaller() caller: QueryCaller,
    @Query() params: Record<string, unknown>,
    @Hangup() gone: AbortSignal,
  ) {
    const { query, isMulti } = readGet(params);
    return this.service.load(caller, query, isMulti, gone);
  }

  @Post('load')
  @ByPost('load', 'Answers a query', LOAD_EXAMPLE)
  @Header('content-type', JSON_TYPE)
  loadByPost(@CurrentCaller() caller: QueryCaller, @Body() body: unknown, @Hangup() gone: AbortSignal) {
    const { query, isMulti } = readPost(body);
    return this.service.load(caller, query, isMulti, gone);
  }

  /** Over HTTP a subscription is one answer. */
  @Get('subscribe')
  @ByGet('subscribe', 'Answers a query, as load does', LOAD_EXAMPLE)
  @ApiQuery(QUERY_TYPE)
  @Header('content-type', JSON_TYPE)
  subscribe(
    @CurrentCaller() caller: QueryCaller,
    @Query() params: Record<string, unknown>,
    @Hangup() gone: AbortSignal,
  ) {
    return this.load(caller, params, gone);
  }

  @Post('subscribe')
  @ByPost('subscribe', 'Answers a query, as load does', LOAD_EXAMPLE)
  @Header('content-type', JSON_TYPE)
  subscribeByPost(@CurrentCaller() caller: QueryCaller, @Body() body: unknown, @Hangup() gone: AbortSignal) {
    return this.loadByPost(caller, body, gone);
  }

  @Get('sql')
  @ByGet('sql', 'The SQL that a query becomes', SQL_EXAMPLE)
  sql(
    @CurrentCaller() caller: QueryCaller,
    @Query() params: Record<string, unknown>,
    @Hangup() gone: AbortSignal,
  ) {
    return this.service.sql(caller, readGet(params).query, gone);
  }

  @Post('sql')
  @ByPost('sql', 'The SQL that a query becomes', SQL_EXAMPLE)
  sqlByPost(@CurrentCaller() caller: QueryCaller, @Body() body: unknown, @Hangup() gone: AbortSignal) {
    return this.service.sql(caller, readPost(body).query, gone);
  }

  @Get('dry-run')
  @ByGet('dryRun', 'Checks a query without running it', DRY_RUN_EXAMPLE)
  dryRun(
    @CurrentCaller() caller: QueryCaller,
    @Query() params: Record<string, unknown>,
    @Hangup() gone: AbortSignal,
  ) {
    return this.service.dryRun(caller, readGet(params).query, gone);
  }

  @Post('dry-run')
  @ByPost('dryRun', 'Checks a query without running it', DRY_RUN_EXAMPLE)
  dryRunByPost(@CurrentCaller() caller: QueryCaller, @Body() body: unknown, @Hangup() gone: AbortSignal) {
    return this.service.dryRun(caller, readPost(body).query, gone);
  }
}
