import { Module } from '@nestjs/common';
import { LinkJobRunner } from './link-job-runner.js';
import { LinkJobsController } from './link-jobs.controller.js';
import { LinkJobsService } from './link-jobs.service.js';

@Module({ controllers: [LinkJobsController], providers: [LinkJobsService, LinkJobRunner] })
export class LinkJobsModule {}
