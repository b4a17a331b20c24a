import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ERROR_CODES, type ErrorDefinition } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import { Public } from '../http/public.decorator.js';
import { escapeHtml, HTML_PAGE_HEADERS, htmlPage } from './html-page.js';

/** Returns what the caller can do about errors of this status. */
function adviceFor(status: number): string {
  if (status === 429 || status === 503) return 'Retry after the number of seconds in Retry-After.';
  if (status >= 500) return 'Retry later; include the request id when you contact us.';
  if (status === 409)
    return 'Change the state that the error names, then retry. Until then, the same request will fail again.';
  if (status === 412) return 'Read the resource again, then decide.';
  return 'Do not retry: the same request will fail again.';
}

const rows = Object.entries<ErrorDefinition>(ERROR_CODES).map(
  ([code, { status, title, advice = adviceFor(status) }]) =>
    `<tr id="${code}"><td>${status}</td><td><code>${code.replaceAll('_', '_<wbr>')}</code></td><td>${escapeHtml(`${title}. ${advice}`)}</td></tr>`,
);
const PAGE = htmlPage(
  'Error codes',
  `<table><thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
);

/** Serves the page that the `type` of a problem links to: all codes of the error table. */
@ApiExcludeController()
@Public()
@Controller('errors')
export class ErrorsController {
  @Get()
  errors(@Res() reply: FastifyReply) {
    void reply.headers(HTML_PAGE_HEADERS).send(PAGE);
  }
}
