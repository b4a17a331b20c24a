import { Module } from '@nestjs/common';
import { DatabaseModule } from '@perkway/platform';
import { AuditLogModule } from './audit-log/audit-log.module.js';
import { ErasuresModule } from './erasures/erasures.module.js';
import { FleetHealthModule } from './fleet-health/fleet-health.module.js';
import { FleetModule } from './fleet/fleet.module.js';
import { KeysModule } from './keys/keys.module.js';
import { LinkJobsModule } from './link-jobs/link-jobs.module.js';
import { OperatorsHomeModule } from './operators-home/operators-home.module.js';
import { ProxyModule } from './proxy/proxy.module.js';
import { ReportsModule } from './reports/reports.module.js';
import { SavedQuestionsModule } from './saved-questions/saved-questions.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { SiteModule } from './site/site.module.js';
import { StockModule } from './stock/stock.module.js';

@Module({
  imports: [
    DatabaseModule,
    SessionsModule,
    FleetModule,
    AuditLogModule,
    KeysModule,
    LinkJobsModule,
    ReportsModule,
    SavedQuestionsModule,
    FleetHealthModule,
    OperatorsHomeModule,
    StockModule,
    ProxyModule,
    SiteModule,
    ErasuresModule,
  ],
})
export class AppModule {}
