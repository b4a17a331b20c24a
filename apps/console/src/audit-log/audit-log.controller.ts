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
    summary: 'Changes made through the console',
    description: 'Operators see all changes, others those of their account.',
  })
  @ApiPage(AuditEntry, 'Newest first')
  listAuditLog(@CurrentSession() session: Session, @Query() query: ListQuery): Promise<Page<AuditEntry>> {
    return this.log.list(session, query);
  }
}
