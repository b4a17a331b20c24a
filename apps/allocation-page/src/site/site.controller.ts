import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ApiError } from '@perkway/domain';
import { Public } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Compressed } from './compressed.js';
import { isForPerson, isPage } from './addresses.js';
import { SiteService } from './site.service.js';

/** Serves the files that a browser loads. Never reads a token. */
@ApiExcludeController()
@Public()
@Controller()
export class SiteController {
  constructor(private readonly site: SiteService) {}

  @Get('assets/:name')
  asset(@Param('name') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const found = this.site.assets.find(name);
    if (!found) throw new ApiError('NOT_FOUND');
    void reply.header('cache-control', found.exact ? 'public, max-age=31536000, immutable' : 'no-store');
    send(request, reply, found.asset.type, found.asset.content, 'accept-encoding');
  }

  @Get('robots.txt')
  robots(@Res() reply: FastifyReply) {
    void reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('cache-control', 'public, max-age=86400')
      .send('User-agent: *\nDisallow: /\n');
  }

  /**
   * Serves the page with status 200 on `/` and `/%23…`, and with 404 on every other path that a person may open, so
   * that people find the field to paste their link into.
   */
  @Get(['/', '*'])
  page(@Query('lang') lang: unknown, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    if (!isForPerson(request.url)) throw new ApiError('NOT_FOUND');
    const { language, content } = this.site.page(lang, request.headers['accept-language']);
    // The URL may contain the token (`/%23…`), so caches must not store the response.
    void reply
      .code(isPage(request.url) ? 200 : 404)
      .header('content-language', language)
      .header('cache-control', 'no-store');
    send(request, reply, 'text/html; charset=utf-8', content, 'accept-language, accept-encoding');
  }
}

function send(request: FastifyRequest, reply: FastifyReply, type: string, content: Compressed, vary: string) {
  const { body, encoding } = content.for(request.headers['accept-encoding']);
  if (encoding) void reply.header('content-encoding', encoding);
  void reply.header('content-type', type).header('vary', vary).send(body);
}
