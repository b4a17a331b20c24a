import { Controller, Get, Header, Query, Res } from '@nestjs/common';
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
import { ApiPage, ApiProblems, readTime, RpcHandler, type ListQuery, type Page } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { CurrentSession, type Session } from '../sessions/session.js';
import { AuditEntry } from './audit-entry.dto.js';
import { AuditLog } from './audit-log.service.js';

const ApiTime = (name: string, description: string, required: boolean) =>
  ApiQuery({
    name,
    required,
    description,
    schema: { type: 'string', ...(required ? { example: '2026-11-01' } : {}) },
  });

@ApiTags('Audit log')
@Controller('api/audit-log')
export class AuditLogController {
  constructor(private readonly log: AuditLog) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Changes made through the console, and management calls made with API keys',
    description: 'Operators see all changes, others those of their account.',
  })
  @ApiPage(AuditEntry, 'Newest first')
  listAuditLog(@CurrentSession() session: Session, @Query() query: ListQuery): Promise<Page<AuditEntry>> {
    return this.log.list(session, query);
  }

  @Get('export')
  @ApiOperation({
    summary: 'The audit log of a time range as NDJSON',
    description:
      'One entry per line, in the order in which they were stored. A date is its midnight in UTC, and a time without an offset is in UTC.',
  })
  @ApiTime('from', 'Entries made at this time or later', true)
  @ApiTime('to', 'Entries made before this time; default: now', false)
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
    @Query('from') from: unknown,
    @Query('to') to: unknown,
    @Res() reply: FastifyReply,
  ): void {
    const [start, end] = [readTime('from', from), to === undefined ? new Date() : readTime('to', to)];
    if (end < start) throw invalidField('to', 'must not be before from');
    void reply
      .header('content-type', 'application/x-ndjson')
      .header('content-disposition', 'attachment; filename="audit-log.ndjson"')
      .header('cache-control', 'no-store')
      .send(Readable.from(this.log.export(session, start, end)));
  }

  @ApiExcludeEndpoint()
  @RpcHandler(STORE_ADMIN_LOG)
  async store(@Payload() record: AdminLogRecord): Promise<object> {
    await this.log.store(record);
    return {};
  }
}
