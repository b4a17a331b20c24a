import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ERROR_CODES } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import { Public } from '../http/public.decorator.js';
import { escapeHtml, HTML_PAGE_HEADERS, htmlPage } from './html-page.js';

/** What a caller can do about it. */
function adviceFor(status: number): string {
  if (status === 429 || status === 503) return 'Try again after Retry-After seconds.';
  if (status >= 500) return 'Try again later; name the request id when you ask us.';
  if (status === 412) return 'Read it again, then decide.';
  return 'The same request will get the same answer.';
}

const rows = Object.entries(ERROR_CODES).map(
  ([code, { status, title }]) =>
    `<tr id="${code}"><td>${status}</td><td><code>${code}</code></td><td>${escapeHtml(title)}. ${adviceFor(status)}</td></tr>`,
);
const PAGE = htmlPage(
  'Error codes',
  `<table><thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
);

/** Where the `type` of a problem leads: all codes, from the one table. */
@ApiExcludeController()
@Public()
@Controller('errors')
export class ErrorsController {
  @Get()
  errors(@Res() reply: FastifyReply) {
    void reply.headers(HTML_PAGE_HEADERS).send(PAGE);
  }
}
