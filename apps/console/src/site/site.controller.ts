import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DomainError } from '@perkway/domain';
import { ENV, Public } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsoleEnv } from '../env.js';

/** What only programs ask for. */
const NO_PAGE = /^\/(?:api|assets)(?:[/?#]|$)/;

/** The one page, at every address: it shows the screen that the address names. */
@ApiExcludeController()
@Public()
@Controller()
export class SiteController {
  private readonly page: Buffer | undefined;

  constructor(@Inject(ENV) { ASSETS_FOLDER }: ConsoleEnv) {
    const file = join(ASSETS_FOLDER, 'index.html');
    // A test of the calls needs no pages.
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
    if (!this.page || NO_PAGE.test(request.url)) throw new DomainError('NOT_FOUND');
    void reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(this.page);
  }
}
