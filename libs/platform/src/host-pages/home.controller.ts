import { Controller, Get, Headers, Inject, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { readWeightedList } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import { ENV, HOME } from '../config/app-tokens.js';
import type { PlatformEnv } from '../config/load-env.js';
import { Public } from '../http/public.decorator.js';
import { escapeHtml, HTML_PAGE_HEADERS, htmlPage } from './html-page.js';

/** The texts of a host's home page. */
export interface Home {
  title: string;
  description: string;
}

const LINKS = { openapi: '/docs-json', errors: '/errors' };

/** Serves the home page of a host, which says what the host does: HTML for browsers, JSON for programs. */
@ApiExcludeController()
@Public()
@Controller()
export class HomeController {
  constructor(
    @Inject(HOME) private readonly home: Home,
    @Inject(ENV) private readonly env: PlatformEnv,
  ) {}

  @Get()
  show(@Headers('accept') accept: string | undefined, @Res() reply: FastifyReply) {
    const { title, description } = this.home;
    const { EXPOSE_DOCS } = this.env;
    void reply.header('vary', 'Accept');
    if (!readWeightedList(accept).includes('text/html'))
      return void reply.send({ title, description, ...(EXPOSE_DOCS ? { docs: '/docs' } : {}), ...LINKS });
    const content =
      `<p>${escapeHtml(description)}</p><ul>${EXPOSE_DOCS ? '<li><a href="/docs">API reference, with requests to try</a></li>' : ''}` +
      `<li><a href="${LINKS.openapi}">The OpenAPI document</a></li><li><a href="${LINKS.errors}">Error codes</a></li></ul>`;
    void reply.headers(HTML_PAGE_HEADERS).send(htmlPage(title, content));
  }
}
