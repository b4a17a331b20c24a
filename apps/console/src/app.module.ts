import { Module } from '@nestjs/common';
import { DatabaseModule } from '@perkway/platform';
import { SessionsModule } from './sessions/sessions.module.js';
import { SiteModule } from './site/site.module.js';

@Module({ imports: [DatabaseModule, SessionsModule, SiteModule] })
export class AppModule {}
