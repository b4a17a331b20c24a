import { Global, Module } from '@nestjs/common';
import { TrackingService } from './tracking.service.js';

/** Tracking for one app. Needs `CreateTrackingOutbox1767225600000` among the app's migrations. */
@Global()
@Module({ providers: [TrackingService], exports: [TrackingService] })
export class TrackingModule {}
