import { Module } from '@nestjs/common';
import { ReportingGuard } from './reporting-guard.js';

/** Guards the roles that BI tools log in with; part of the role `ingest`. */
@Module({ providers: [ReportingGuard] })
export class ReportingModule {}
