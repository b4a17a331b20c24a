import { Body, Controller, Get, HttpCode, Inject, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiQuery, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ApiCubeErrors } from '@perkway/platform';
import { CurrentCaller, type QueryCaller } from '../access/token.guard.js';
import { LOAD_EXAMPLE, META_EXAMPLE, QUERY_EXAMPLE } from './api-examples.js';
import { LoadService } from './load.service.js';
import { readGet, readPost } from './request-query.js';

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
  @ApiCubeErrors('TOO_MANY_REQUESTS')
  meta(@CurrentCaller() caller: QueryCaller) {
    return this.service.meta(caller);
  }

  @Get('load')
  @ApiOperation({
    operationId: 'load',
    summary: 'Answers a query',
    description: 'For queries short enough for an address.',
  })
  @ApiQuery({ name: 'query', description: 'The query as JSON', example: JSON.stringify(QUERY_EXAMPLE) })
  @ApiQuery({
    name: 'queryType',
    required: false,
    description: '`multi`: the client takes several results (compared date ranges, blended queries)',
  })
  @ApiOkResponse({ schema: { type: 'object', example: LOAD_EXAMPLE } })
  @ApiCubeErrors('VALIDATION_FAILED', 'TOO_MANY_REQUESTS')
  load(@CurrentCaller() caller: QueryCaller, @Query() params: Record<string, unknown>) {
    const { query, isMulti } = readGet(params);
    return this.service.load(caller, query, isMulti);
  }

  @Post('load')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'loadByPost',
    summary: 'Answers a query',
    description: 'As GET, for queries of any length.',
  })
  @ApiBody({
    schema: {
      type: 'object',
      required: ['query'],
      properties: {
        query: { description: 'A query, a list of queries to blend, or either as JSON text' },
        queryType: { type: 'string', enum: ['multi'] },
      },
      example: { query: QUERY_EXAMPLE },
    },
  })
  @ApiOkResponse({ schema: { type: 'object', example: LOAD_EXAMPLE } })
  @ApiCubeErrors('VALIDATION_FAILED', 'TOO_MANY_REQUESTS', 'PAYLOAD_TOO_LARGE')
  loadByPost(@CurrentCaller() caller: QueryCaller, @Body() body: unknown) {
    const { query, isMulti } = readPost(body);
    return this.service.load(caller, query, isMulti);
  }
}
