import { applyDecorators, Controller, Get, Header, Query, Res } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  ApiExcludeEndpoint,
  ApiOperation,
  ApiProduces,
  ApiQuery,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { invalidField, STORE_ADMIN_LOG, type AdminLogRecord } from '@perkway/domain';
import { ApiPage, ApiProblems, RpcHandler, type ListQuery, type Page } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { CurrentSession, type Session } from '../sessions/session.js';
import { AuditEntry } from './audit-entry.dto.js';
import { AUDIT_KINDS, AUDIT_OUTCOMES, readFilters } from './audit-filters.js';
import { AuditLog } from './audit-log.service.js';

const ApiTime = (name: string, description: string, required = false) =>
  ApiQuery({
    name,
    required,
    description,
    schema: { type: 'string', ...(required ? { example: '2026-11-01' } : {}) },
  });
const ApiFilters = () =>
  applyDecorators(
    ApiQuery({
      name: 'account',
      required: false,
      description:
        'The id of an account: changes by its people and keys, of the account itself, and of resources that it owns',
      schema: { type: 'string', maxLength: 255 },
    }),
    ApiQuery({
      name: 'outcome',
      required: false,
      description: '`unknown`: it is unknown whether the change was made',
      schema: { type: 'string', enum: [...AUDIT_OUTCOMES] },
    }),
    ApiQuery({
      name: 'person',
      required: false,
      description: 'A part of the e-mail address, or of the name of the key',
      schema: { type: 'string', maxLength: 255 },
    }),
    ApiQuery({
      name: 'object',
      required: false,
      description: 'The id of the changed object; for a person or key, the id of its account',
      schema: { type: 'string', maxLength: 255 },
    }),
    ApiQuery({
      name: 'kind',
      required: false,
      description: 'The kind of the changed object',
      schema: { type: 'string', enum: Object.keys(AUDIT_KINDS) },
    }),
  );

@ApiTags('Audit log')
@Controller('api/audit-log')
export class AuditLogController {
  constructor(private readonly log: AuditLog) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'List changes made through the console, and management calls made with API keys',
    description: 'Operators see all changes, others those of their account.',
  })
  @ApiFilters()
  @ApiTime('from', 'Entries made at this time or later')
  @ApiTime('to', 'Entries made before this time')
  @ApiPage(AuditEntry, 'Newest first')
  @ApiProblems('VALIDATION_FAILED')
  listAuditLog(@CurrentSession() session: Session, @Query() query: ListQuery): Promise<Page<AuditEntry>> {
    return this.log.list(session, query);
  }

  @Get('export')
  @ApiOperation({
    summary: 'Export the audit log of a time range as NDJSON',
    description:
      'One entry per line, in the order in which they were stored. A date is its midnight in UTC, and a time without an offset is in UTC.',
  })
  @ApiTime('from', 'Entries made at this time or later', true)
  @ApiTime('to', 'Entries made before this time; default: now')
  @ApiFilters()
  @ApiProduces('application/x-ndjson')
  @ApiResponse({
    status: 200,
    description: 'One entry per line',
    content: {
      'application/x-ndjson': { schema: { type: 'string' }, example: '{"id":"1207","action":"PUT"}\n' },
    },
  })
  @ApiProblems('VALIDATION_FAILED')
  exportAuditLog(
    @CurrentSession() session: Session,
    @Query() query: ListQuery,
    @Res() reply: FastifyReply,
  ): void {
    const filters = readFilters(query);
    if (!filters.from) throw invalidField('from', 'is required');
    void reply
      .header('content-type', 'application/x-ndjson')
      .header('content-disposition', 'attachment; filename="audit-log.ndjson"')
      .header('cache-control', 'no-store')
      .send(Readable.from(this.log.export(session, { ...filters, to: filters.to ?? new Date() })));
  }

  @ApiExcludeEndpoint()
  @RpcHandler(STORE_ADMIN_LOG)
  async store(@Payload() record: AdminLogRecord): Promise<object> {
    await this.log.store(record);
    return {};
  }
}
