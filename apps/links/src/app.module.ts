import { Module } from '@nestjs/common';
import { TrackingModule } from '@perkway/tracking';
import { ClicksModule } from './clicks/clicks.module.js';

/**
 * Has no guard: a click_url carries its own credential, and there is nothing else here. Has no data source either, so
 * that it starts while Postgres is away.
 */
@Module({ imports: [TrackingModule, ClicksModule] })
export class AppModule {}
