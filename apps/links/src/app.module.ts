import { Module } from '@nestjs/common';
import { DatabaseModule } from '@perkway/platform';
import { TrackingModule } from '@perkway/tracking';
import { ClicksModule } from './clicks/clicks.module.js';
import { ErasuresModule } from './erasures/erasures.module.js';

/** Has no guard: every click_url carries its own credential, and this host serves nothing else. */
@Module({ imports: [DatabaseModule, TrackingModule, ClicksModule, ErasuresModule] })
export class AppModule {}
