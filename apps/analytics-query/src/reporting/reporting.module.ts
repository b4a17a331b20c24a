import { Module } from '@nestjs/common';
import { ReportingGuard } from './reporting-guard.js';

/** Watches over the roles that BI tools log in as; part of the role `ingest`. */
@Module({ providers: [ReportingGuard] })
export class ReportingModule {}
