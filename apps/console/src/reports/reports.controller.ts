import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  ApiPage,
  ApiProblems,
  clientIp,
  FailedAttemptLimiter,
  Public,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentSession, type Session } from '../sessions/session.js';
import {
  CreatedReportDto,
  CreateReportDto,
  FrozenReportDto,
  ReadReportDto,
  ReportDto,
} from './report.dto.js';
import { ReportsService } from './reports.service.js';

@ApiTags('Reports')
@Controller('api/reports')
export class ReportsController {
  constructor(
    private readonly reports: ReportsService,
    private readonly limiter: FailedAttemptLimiter,
  ) {}

  @Post()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Freeze the figures of a campaign as a report with a secret URL' })
  @ApiResponse({ status: 201, description: 'The URL of the report', type: CreatedReportDto })
  @ApiProblems('CAMPAIGN_NOT_FOUND')
  createReport(@CurrentSession() session: Session, @Body() body: CreateReportDto): Promise<CreatedReportDto> {
    return this.reports.create(session, body);
  }

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'List the reports of the account, without their URLs' })
  @ApiPage(ReportDto, 'Newest first')
  listReports(@CurrentSession() session: Session, @Query() query: ListQuery): Promise<Page<ReportDto>> {
    return this.reports.list(session, query);
  }

  @Delete(':reportId')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke a report: its URL stops working' })
  @ApiResponse({ status: 204, description: 'The report is revoked' })
  @ApiProblems('REPORT_NOT_FOUND')
  revokeReport(@CurrentSession() session: Session, @Param('reportId') reportId: string): Promise<void> {
    return this.reports.revoke(session, reportId);
  }

  @Public()
  @Post('read')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Get the content of a report',
    description: 'For anyone with its URL; no session is needed.',
  })
  @ApiResponse({ status: 200, description: 'The frozen figures', type: FrozenReportDto })
  @ApiProblems('REPORT_NOT_FOUND', 'ORIGIN_FORBIDDEN', 'TOO_MANY_REQUESTS', 'DEPENDENCY_UNAVAILABLE')
  readReport(
    @Body() { secret }: ReadReportDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FrozenReportDto> {
    return this.limiter.attempt(clientIp(request), reply, 'REPORT_NOT_FOUND', () =>
      this.reports.read(secret),
    );
  }
}
