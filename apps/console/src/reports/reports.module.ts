import { Module } from '@nestjs/common';
import { FailedAttemptLimiter, ReplicaCounts } from '@perkway/platform';
import { CampaignFigures } from './campaign-figures.js';
import { ReportsController } from './reports.controller.js';
import { ReportsService } from './reports.service.js';

const UNKNOWN_REPORTS_PER_MINUTE = 60;

@Module({
  controllers: [ReportsController],
  providers: [
    ReportsService,
    CampaignFigures,
    {
      provide: FailedAttemptLimiter,
      inject: [ReplicaCounts],
      useFactory: (counts: ReplicaCounts) =>
        new FailedAttemptLimiter(UNKNOWN_REPORTS_PER_MINUTE, 'reports', counts),
    },
  ],
})
export class ReportsModule {}
