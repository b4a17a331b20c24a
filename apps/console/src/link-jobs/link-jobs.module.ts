import { Module } from '@nestjs/common';
import { LinkJobRunner } from './link-job-runner.js';
import { LinkJobsController } from './link-jobs.controller.js';
import { LinkJobsService } from './link-jobs.service.js';
import { LinkRequests } from './link-requests.js';

@Module({ controllers: [LinkJobsController], providers: [LinkJobsService, LinkJobRunner, LinkRequests] })
export class LinkJobsModule {}
