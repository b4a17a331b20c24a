import { Controller, Get, Header, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiPage, type ListQuery, type Page } from '@perkway/platform';
import { CurrentSession, type Session } from '../sessions/session.js';
import { AuditEntry } from './audit-entry.dto.js';
import { AuditLog } from './audit-log.service.js';

@ApiTags('Audit log')
@Controller('api/audit-log')
export class AuditLogController {
  constructor(private readonly log: AuditLog) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Who changed what in the console',
    description: 'An operator sees all of it, others what their account has changed.',
  })
  @ApiPage(AuditEntry, 'The latest first')
  listAuditLog(@CurrentSession() session: Session, @Query() query: ListQuery): Promise<Page<AuditEntry>> {
    return this.log.list(session, query);
  }
}
