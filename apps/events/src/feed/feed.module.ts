import { Module } from '@nestjs/common';
import { DeliveriesModule } from '../deliveries/deliveries.module.js';
import { FeedConsumer } from './feed-consumer.service.js';
import { FeedMetrics } from './feed-metrics.js';
import { FeedRetention } from './feed-retention.service.js';
import { FeedStore } from './feed-store.js';
import { FeedWatch } from './feed-watch.js';
import { FeedWriter } from './feed-writer.js';
import { PersonKeys } from './person-keys.js';
import { FeedController } from './feed.controller.js';
import { FeedService } from './feed.service.js';

/** Stores tracking events as one ordered feed per account, and serves it. */
@Module({
  imports: [DeliveriesModule],
  controllers: [FeedController],
  providers: [
    FeedService,
    FeedWatch,
    FeedStore,
    FeedWriter,
    FeedConsumer,
    FeedMetrics,
    FeedRetention,
    PersonKeys,
  ],
  exports: [PersonKeys],
})
export class FeedModule {}
