import { Module } from '@nestjs/common';
import { DatabaseModule } from '@perkway/platform';
import { AuditLogModule } from './audit-log/audit-log.module.js';
import { FleetModule } from './fleet/fleet.module.js';
import { KeysModule } from './keys/keys.module.js';
import { ProxyModule } from './proxy/proxy.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { SiteModule } from './site/site.module.js';

@Module({
  imports: [DatabaseModule, SessionsModule, FleetModule, AuditLogModule, KeysModule, ProxyModule, SiteModule],
})
export class AppModule {}
