import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiProduces, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { BROKEN_LINK_PAGE, Public, TRY_AGAIN_PAGE } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClicksService, type ClickQuery } from './clicks.service.js';

@ApiTags('clicks')
@Controller()
export class ClicksController {
  constructor(private readonly clicks: ClicksService) {}

  @Public()
  @Get('c/:token')
  @ApiOperation({
    operationId: 'followClickUrl',
    summary: 'Records the click and redirects to the offer',
    description:
      'The `click_url` of a perk, used verbatim. Every use is a click, whatever traffic it is. A `HEAD` request answers the same headers and records nothing. Other names with the prefix `cmeta_` are taken as well.',
  })
  @ApiParam({ name: 'token', description: 'As it stands in the click_url', example: 'AWsxAAAAAAAA...' })
  @ApiQuery({
    name: 'journeyId',
    required: false,
    schema: { type: 'string', maxLength: 255 },
    example: 'r-4711',
  })
  @ApiQuery({
    name: 'disableTracking',
    required: false,
    schema: { type: 'string', enum: ['true', '1', 'false', '0'] },
    description: '`true` or `1` keeps the click out of the statistics',
  })
  @ApiQuery({
    name: 'cmeta_user_id',
    required: false,
    schema: { type: 'string', maxLength: 254 },
    example: '12345',
  })
  @ApiQuery({
    name: 'utm_source',
    required: false,
    schema: { type: 'string', maxLength: 254 },
    example: 'newsletter',
  })
  @ApiQuery({
    name: 'utm_medium',
    required: false,
    schema: { type: 'string', maxLength: 254 },
    example: 'email',
  })
  @ApiQuery({
    name: 'utm_campaign',
    required: false,
    schema: { type: 'string', maxLength: 254 },
    example: 'spring',
  })
  @ApiQuery({
    name: 'utm_term',
    required: false,
    schema: { type: 'string', maxLength: 254 },
    example: 'shoes',
  })
  @ApiQuery({
    name: 'utm_content',
    required: false,
    schema: { type: 'string', maxLength: 254 },
    example: 'button',
  })
  @ApiProduces('text/html')
  @ApiResponse({
    status: 302,
    description: 'To the current offer of the perk',
    headers: {
      Location: { schema: { type: 'string', format: 'uri' }, example: 'https://shop.example/welcome' },
      'Cache-Control': { schema: { type: 'string' }, example: 'no-store' },
    },
  })
  @ApiResponse({
    status: 404,
    description: 'The token is unknown or was changed, or the perk does not exist any more',
    content: { 'text/html': { schema: { type: 'string' }, example: BROKEN_LINK_PAGE } },
  })
  @ApiResponse({
    status: 503,
    description: 'Where the perk leads cannot be found out now',
    headers: { 'Retry-After': { schema: { type: 'integer' }, example: 2 } },
    content: { 'text/html': { schema: { type: 'string' }, example: TRY_AGAIN_PAGE } },
  })
  async follow(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { link, target } = await this.clicks.resolve((request.params as { token: string }).token);
    if (request.method === 'GET')
      await this.clicks.record(link, request.query as ClickQuery, request.headers);
    void reply.code(302).headers({ location: target, 'cache-control': 'no-store' }).send();
  }
}
