import { Controller, Get, Headers, Inject, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { readWeightedList } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import { HOME } from '../config/app-tokens.js';
import { Public } from '../http/public.decorator.js';
import { escapeHtml, HTML_PAGE_HEADERS, htmlPage } from './html-page.js';

/** What a host is, for whoever opens its address. */
export interface Home {
  title: string;
  description: string;
}

const LINKS = { docs: '/docs', openapi: '/docs-json', errors: '/errors' };

@ApiExcludeController()
@Public()
@Controller()
export class HomeController {
  constructor(@Inject(HOME) private readonly home: Home) {}

  @Get()
  show(@Headers('accept') accept: string | undefined, @Res() reply: FastifyReply) {
    const { title, description } = this.home;
    void reply.header('vary', 'Accept');
    if (!readWeightedList(accept).includes('text/html'))
      return void reply.send({ title, description, ...LINKS });
    const content =
      `<p>${escapeHtml(description)}</p><ul><li><a href="${LINKS.docs}">The operations, to read and to try</a></li>` +
      `<li><a href="${LINKS.openapi}">The OpenAPI document</a></li><li><a href="${LINKS.errors}">Error codes</a></li></ul>`;
    void reply.headers(HTML_PAGE_HEADERS).send(htmlPage(title, content));
  }
}
