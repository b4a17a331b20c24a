import {
  applyDecorators,
  Body,
  Controller,
  Get,
  Header,
  Headers,
  HttpCode,
  Param,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiProduces, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiPage, ApiProblems, type ListQuery, type Page } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import type { Readable } from 'node:stream';
import { CurrentSession, type Session } from '../sessions/session.js';
import { refuseWhileViewing } from '../sessions/viewing.js';
import {
  CancelledLinksDto,
  CancelLinksDto,
  CheckReferencesDto,
  CreatedLinkJobDto,
  CreateLinkJobDto,
  DecideLinkJobDto,
  JOB_STATES,
  LINK_STATES,
  LinkedReferencesDto,
  LinkJobDto,
  LinkOfJobDto,
  LinkStatesDto,
} from './link-job.dto.js';
import { LinkJobApprovals } from './link-job-approvals.js';
import { LinkJobsService } from './link-jobs.service.js';

const DECISION_PROBLEMS = [
  'JOB_NOT_FOUND',
  'APPROVAL_BY_KEY',
  'APPROVAL_OWN_JOB',
  'NOT_AWAITING_APPROVAL',
  'APPROVAL_LAPSED',
] as const;

/** Documents a CSV file with a line per link of a job. */
const ApiCsvOfLinks = (example: string) =>
  applyDecorators(
    ApiProduces('text/csv'),
    ApiResponse({
      status: 200,
      description: 'One line per link',
      content: { 'text/csv': { schema: { type: 'string' }, example } },
    }),
  );

function sendCsv(reply: FastifyReply, name: string, text: Readable): void {
  void reply
    .header('content-type', 'text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('cache-control', 'no-store')
    .send(text);
}

@ApiTags('Link jobs')
@Controller('api/link-jobs')
export class LinkJobsController {
  constructor(
    private readonly jobs: LinkJobsService,
    private readonly approvals: LinkJobApprovals,
  ) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({
    summary: 'Start a job that creates many reward links',
    description:
      'A job beyond the `approvals` of the account creates nothing until another person of the account approves it.',
  })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: true,
    description: 'A new UUID; repeating it returns the same job',
    schema: { type: 'string', format: 'uuid', example: '3f0d4c9e-8a11-4a57-b8c0-1f2e3d4c5b6a' },
  })
  @ApiResponse({ status: 202, description: 'The job', type: CreatedLinkJobDto })
  @ApiProblems('POOL_NOT_FOUND', 'IDEMPOTENCY_KEY_CONFLICT')
  createLinkJob(
    @CurrentSession() session: Session,
    @Headers('idempotency-key') idempotencyKey: unknown,
    @Body() body: CreateLinkJobDto,
  ): Promise<CreatedLinkJobDto> {
    return this.jobs.create(session, idempotencyKey, body);
  }

  @Post('check')
  @HttpCode(200)
  @ApiOperation({
    summary: 'List the references that have a link or will get one',
    description:
      'Considers only link jobs of the account. Includes links that were opened, cancelled or expired, and links that a job can still create.',
  })
  @ApiResponse({
    status: 200,
    description: 'The references that have a link or will get one',
    type: LinkedReferencesDto,
  })
  checkReferences(
    @CurrentSession() session: Session,
    @Body() { references }: CheckReferencesDto,
  ): Promise<LinkedReferencesDto> {
    return this.jobs.checkReferences(session, references);
  }

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'List the jobs of the account' })
  @ApiQuery({ name: 'state', required: false, schema: { type: 'string', enum: [...JOB_STATES] } })
  @ApiPage(LinkJobDto, 'Newest first')
  listLinkJobs(@CurrentSession() session: Session, @Query() query: ListQuery): Promise<Page<LinkJobDto>> {
    return this.jobs.list(session, query);
  }

  @Get(':jobId')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Get the progress of a job' })
  @ApiResponse({ status: 200, description: 'The job', type: LinkJobDto })
  @ApiProblems('JOB_NOT_FOUND')
  getLinkJob(@CurrentSession() session: Session, @Param('jobId') jobId: string): Promise<LinkJobDto> {
    return this.jobs.get(session, jobId);
  }

  @Get(':jobId/csv')
  @ApiOperation({
    summary: 'Download the links of a job',
    description:
      'To merge into a mailing: reference, link, expiry, and the present state (`waiting`, `opened`, `cancelled` or `expired`). Anyone with this file can open the gifts.',
  })
  @ApiCsvOfLinks(
    'reference,link,expiry,state\r\ncustomer-1007,https://rewards.perkway.example/#AQJrMVsi-example,2030-01-01T00:00:00.000Z,waiting\r\n',
  )
  @ApiProblems('JOB_NOT_FOUND')
  async getLinkJobCsv(
    @CurrentSession() session: Session,
    @Param('jobId') jobId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    // The file has the links themselves.
    refuseWhileViewing(session);
    sendCsv(reply, `reward-links-${jobId}.csv`, await this.jobs.csv(session, jobId));
  }

  @Get(':jobId/results')
  @ApiOperation({
    summary: 'Download what became of the links of a job, without the links',
    description:
      'Reference, state, and when the link was opened or cancelled. Nobody can open a gift with this file.',
  })
  @ApiCsvOfLinks(
    'reference,state,opened_at,cancelled_at\r\ncustomer-1007,opened,2026-11-20T16:48:03.120Z,\r\n',
  )
  @ApiProblems('JOB_NOT_FOUND')
  async getLinkJobResults(
    @CurrentSession() session: Session,
    @Param('jobId') jobId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    sendCsv(reply, `results-${jobId}.csv`, await this.jobs.results(session, jobId));
  }

  @Get(':jobId/links')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Count the links of a job by what became of them' })
  @ApiResponse({ status: 200, description: 'Counts of links', type: LinkStatesDto })
  @ApiProblems('JOB_NOT_FOUND')
  countLinkStates(@CurrentSession() session: Session, @Param('jobId') jobId: string): Promise<LinkStatesDto> {
    return this.jobs.states(session, jobId);
  }

  @Get(':jobId/reward-links')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'List the reward links of a job with their states',
    description: 'Returns no URLs of links, so nobody can open a gift with the response.',
  })
  @ApiQuery({ name: 'state', required: false, schema: { type: 'string', enum: [...LINK_STATES] } })
  @ApiPage(LinkOfJobDto, 'In the order of the rows of the job')
  @ApiProblems('JOB_NOT_FOUND')
  listLinksOfJob(
    @CurrentSession() session: Session,
    @Param('jobId') jobId: string,
    @Query() query: ListQuery,
  ): Promise<Page<LinkOfJobDto>> {
    return this.jobs.links(session, jobId, query);
  }

  @Post(':jobId/cancel')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel the links of a job that nobody has opened, 500 rows at a time',
    description:
      'Stops the job first, if it runs. Cancelled links stay cancelled; repeating a call changes nothing.',
  })
  @ApiResponse({
    status: 200,
    description: 'What became of the links of these rows',
    type: CancelledLinksDto,
  })
  @ApiProblems('JOB_NOT_FOUND')
  cancelLinksOfJob(
    @CurrentSession() session: Session,
    @Param('jobId') jobId: string,
    @Body() { after }: CancelLinksDto,
  ): Promise<CancelledLinksDto> {
    return this.jobs.cancel(session, jobId, after);
  }

  @Post(':jobId/stop')
  @HttpCode(200)
  @ApiOperation({ summary: 'Stop a job; links already created remain valid' })
  @ApiResponse({ status: 200, description: 'The job', type: LinkJobDto })
  @ApiProblems('JOB_NOT_FOUND')
  stopLinkJob(@CurrentSession() session: Session, @Param('jobId') jobId: string): Promise<LinkJobDto> {
    return this.jobs.stop(session, jobId);
  }

  @Post(':jobId/resume')
  @HttpCode(200)
  @ApiOperation({ summary: 'Resume a job that was stopped or has failed' })
  @ApiResponse({ status: 200, description: 'The job', type: LinkJobDto })
  @ApiProblems('JOB_NOT_FOUND')
  resumeLinkJob(@CurrentSession() session: Session, @Param('jobId') jobId: string): Promise<LinkJobDto> {
    return this.jobs.resume(session, jobId);
  }

  @Post(':jobId/approve')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Approve a job of another person, which then runs',
    description:
      'Only for people, not for sessions of API keys. Refused if the job cannot fit into a limit of the account.',
  })
  @ApiResponse({ status: 200, description: 'The job', type: LinkJobDto })
  @ApiProblems(...DECISION_PROBLEMS, 'LIMIT_REACHED')
  approveLinkJob(
    @CurrentSession() session: Session,
    @Param('jobId') jobId: string,
    @Body() { comment }: DecideLinkJobDto,
  ): Promise<LinkJobDto> {
    return this.approvals.approve(session, jobId, comment);
  }

  @Post(':jobId/reject')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Reject a job of another person, for good',
    description: 'Only for people, not for sessions of API keys.',
  })
  @ApiResponse({ status: 200, description: 'The job', type: LinkJobDto })
  @ApiProblems(...DECISION_PROBLEMS)
  rejectLinkJob(
    @CurrentSession() session: Session,
    @Param('jobId') jobId: string,
    @Body() { comment }: DecideLinkJobDto,
  ): Promise<LinkJobDto> {
    return this.approvals.reject(session, jobId, comment);
  }
}
