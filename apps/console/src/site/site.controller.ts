import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ApiError } from '@perkway/domain';
import { ENV, Public } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsoleEnv } from '../env.js';

/** Paths that are never pages. */
const NO_PAGE = /^\/(?:api|assets)(?:[/?#]|$)/;

/** Serves the single page at every path; the path selects the screen. */
@ApiExcludeController()
@Public()
@Controller()
export class SiteController {
  private readonly page: Buffer | undefined;

  constructor(@Inject(ENV) { ASSETS_FOLDER }: ConsoleEnv) {
    const file = join(ASSETS_FOLDER, 'index.html');
    // Missing in API tests, which need no pages.
    if (existsSync(file)) this.page = readFileSync(file);
  }

  @Get('robots.txt')
  robots(@Res() reply: FastifyReply) {
    void reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('cache-control', 'public, max-age=86400')
      .send('User-agent: *\nDisallow: /\n');
  }

  @Get(['/', '*'])
  screen(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    if (!this.page || NO_PAGE.test(request.url)) throw new ApiError('NOT_FOUND');
    void reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(this.page);
  }
}
