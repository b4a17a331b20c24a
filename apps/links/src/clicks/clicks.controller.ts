import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Public } from '@perkway/platform';
import { ApiTracked } from '@perkway/tracking';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClicksService, type ClickQuery } from './clicks.service.js';

@ApiTags('Clicks')
@Controller()
export class ClicksController {
  constructor(private readonly clicks: ClicksService) {}

  @Public()
  @Get('c/:token')
  @ApiOperation({
    summary: 'Records the click and redirects to the offer',
    description:
      'The `click_url` of a perk, used verbatim. Every use is recorded as a click, whatever its traffic class. A `HEAD` request gets the same headers and records nothing.',
  })
  @ApiParam({ name: 'token', description: 'The token of the click_url' })
  @ApiTracked()
  @ApiResponse({
    status: 302,
    description: 'Redirects to the current offer of the perk',
    headers: {
      Location: { schema: { type: 'string', format: 'uri' }, example: 'https://shop.example/welcome' },
      'Cache-Control': { schema: { type: 'string' }, example: 'no-store' },
    },
  })
  @ApiProblems('LINK_NOT_FOUND', 'PERK_NOT_FOUND', 'DEPENDENCY_UNAVAILABLE')
  async followClickUrl(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { link, target } = await this.clicks.resolve((request.params as { token: string }).token);
    if (request.method === 'GET')
      await this.clicks.record(link, request.query as ClickQuery, request.headers);
    void reply.code(302).headers({ location: target, 'cache-control': 'no-store' }).send();
  }
}
