import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Direct, Public } from '@perkway/platform';
import { ApiTracked } from '@perkway/tracking';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClicksService, type ClickLink, type ClickQuery } from './clicks.service.js';

@ApiTags('Clicks')
@Controller()
export class ClicksController {
  constructor(private readonly clicks: ClicksService) {}

  @Public()
  @Direct()
  @Get('c/:token')
  @ApiOperation({
    summary: 'Record the click and redirect to the offer',
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
  followClickUrl(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> | void {
    const link = this.clicks.verify((request.params as { token: string }).token);
    const target = this.clicks.targetOf(link);
    return typeof target === 'string'
      ? this.redirect(link, target, request, reply)
      : target.then((found) => this.redirect(link, found, request, reply));
  }

  private redirect(
    link: ClickLink,
    target: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> | void {
    const send = () => void reply.code(302).headers({ location: target, 'cache-control': 'no-store' }).send();
    if (request.method !== 'GET') return send();
    // The click must be durable before the response is sent.
    return this.clicks.record(link, request.query as ClickQuery, request.headers).then(send);
  }
}
