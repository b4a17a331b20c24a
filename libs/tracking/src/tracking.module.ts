import { Global, Module, type DynamicModule } from '@nestjs/common';
import { TRACKING_OPTIONS, TrackingService, type TrackingOptions } from './tracking.service.js';

/**
 * Tracking for one app. Needs the app's database, with `CreateTrackingOutbox1767225600000` among its migrations, and the
 * platform's NATS module.
 */
@Global()
@Module({})
export class TrackingModule {
  static register(options: TrackingOptions): DynamicModule {
    return {
      module: TrackingModule,
      providers: [{ provide: TRACKING_OPTIONS, useValue: options }, TrackingService],
      exports: [TrackingService],
    };
  }
}
