import { applyDecorators, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { ChangesNothing, Roles } from '@perkway/auth';
import { ApiError, characters, invalidField, isStorableText, isUuid, lastOf } from '@perkway/domain';
import { ApiProblems, useMediaType } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { allowSlowBody } from '../slow-bodies.js';
import { LoadCheck, LoadReport, LoadResult, LoadSummary } from './load.dto.js';
import { LoadsService, type LoadFormat } from './loads.service.js';

/** Only these routes receive bodies of these types, as streams. */
export const CARD_LOAD_ROUTES = ['/admin/pools/:poolId/cards', '/admin/pools/:poolId/cards/check'];
export const CARD_LOAD_TYPES = ['application/x-ndjson', 'text/csv'];

const MAX_FILE_NAME = 255;

/** @throws UNSUPPORTED_MEDIA_TYPE also for a compressed body, which would otherwise be parsed as rows */
function formatOf({ body, headers }: FastifyRequest): LoadFormat {
  if (!(body instanceof Readable)) throw useMediaType(CARD_LOAD_TYPES);
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the rows uncompressed');
  return headers['content-type']!.trim().toLowerCase().startsWith('text/csv') ? 'csv' : 'ndjson';
}

const CardRowsBody = () =>
  applyDecorators(
    ApiConsumes(...CARD_LOAD_TYPES),
    ApiBody({
      description:
        'One JSON object per line, or CSV with a header. `pin`, `valid_until` (the card is given out only for links that expire by the end of that day, UTC) and `batch` (up to 100 characters) are optional.',
      schema: { type: 'string' },
      examples: {
        ndjson: {
          value: '{"code":"GIFT-7K2M-93QX","pin":"4071","denomination":25,"currency":"EUR","country":"FR"}\n',
        },
        csv: { value: 'code,pin,denomination,currency,country\nGIFT-7K2M-93QX,4071,25,EUR,FR\n' },
      },
    }),
  );

function fileNameOf(given: unknown): string {
  if (typeof given === 'string' && given && isStorableText(given) && characters(given) <= MAX_FILE_NAME)
    return given;
  throw invalidField('fileName', `must have 1 to ${MAX_FILE_NAME} characters`);
}

@ApiTags('Management')
@ApiParam({ name: 'poolId', format: 'uuid' })
@Roles('ADMIN')
@Controller('admin/pools/:poolId')
export class LoadsController {
  constructor(private readonly loads: LoadsService) {}

  @Post('cards')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Load cards into a pool',
    description:
      'A stream of any length. Rows are written in batches as they arrive. If the connection breaks, complete batches stay; send the same file again, since codes that are already stored count as duplicates. The progress is at `loads/{loadId}`.',
  })
  @ApiQuery({
    name: 'loadId',
    required: false,
    schema: { type: 'string', format: 'uuid' },
    description:
      'Id of the load, to follow it while it runs. Generated if missing; the response header `X-Load-Id` returns it.',
  })
  @ApiQuery({
    name: 'fileName',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: MAX_FILE_NAME },
    description: 'Shown in the list of loads',
  })
  @CardRowsBody()
  @ApiResponse({
    status: 200,
    description: 'Number of imported, duplicate and rejected rows',
    type: LoadResult,
    headers: { 'X-Load-Id': { schema: { type: 'string', format: 'uuid' } } },
  })
  @ApiProblems('POOL_NOT_FOUND')
  async loadGiftCards(
    @Param('poolId') poolId: string,
    @Query('loadId') given: unknown,
    @Query('fileName') givenName: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LoadResult> {
    const format = formatOf(request);
    const loadId = given === undefined ? randomUUID() : lastOf(given);
    if (!isUuid(loadId)) throw invalidField('loadId', 'must be a UUID');
    const fileName = givenName === undefined ? null : fileNameOf(lastOf(givenName));
    await this.loads.begin(poolId, loadId, fileName);
    allowSlowBody(request);
    void reply.header('x-load-id', loadId);
    return this.loads.load(poolId, loadId, format, request.body as Readable);
  }

  @Post('cards/check')
  @HttpCode(200)
  @ChangesNothing()
  @ApiOperation({
    summary: 'Check cards before loading them',
    description: 'Reads up to 100,000 rows and tells what a load of them would do now. Stores nothing.',
  })
  @CardRowsBody()
  @ApiResponse({ status: 200, description: 'What a load would do', type: LoadCheck })
  @ApiProblems('POOL_NOT_FOUND')
  checkGiftCards(@Param('poolId') poolId: string, @Req() request: FastifyRequest): Promise<LoadCheck> {
    const format = formatOf(request);
    allowSlowBody(request);
    return this.loads.check(poolId, format, request.body as Readable);
  }

  @Get('loads')
  @ApiOperation({ summary: 'List the last 50 loads of a pool, newest first' })
  @ApiResponse({ status: 200, description: 'Newest first', type: [LoadSummary] })
  @ApiProblems('POOL_NOT_FOUND')
  getGiftCardLoads(@Param('poolId') poolId: string): Promise<LoadSummary[]> {
    return this.loads.list(poolId);
  }

  @Get('loads/:loadId')
  @ApiOperation({
    summary: 'Get the progress of a load, and the rows it did not import',
  })
  @ApiParam({ name: 'loadId', format: 'uuid' })
  @ApiResponse({ status: 200, description: 'The load', type: LoadReport })
  @ApiProblems('POOL_NOT_FOUND', 'LOAD_NOT_FOUND')
  getGiftCardLoad(@Param('poolId') poolId: string, @Param('loadId') loadId: string): Promise<LoadReport> {
    return this.loads.report(poolId, loadId);
  }
}
