import { Module } from '@nestjs/common';
import { Clock, SystemClock } from '@perkway/platform';
import { LinkJobApprovals } from './link-job-approvals.js';
import { LinkJobRunner } from './link-job-runner.js';
import { LinkJobsController } from './link-jobs.controller.js';
import { LinkJobsService } from './link-jobs.service.js';

@Module({
  controllers: [LinkJobsController],
  providers: [LinkJobsService, LinkJobRunner, LinkJobApprovals, { provide: Clock, useClass: SystemClock }],
})
export class LinkJobsModule {}
