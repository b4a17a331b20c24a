import { Module } from '@nestjs/common';
import { Clock, ENV, SystemClock } from '@perkway/platform';
import type { EventsEnv } from '../env.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { DeliveryQueue } from './delivery-queue.js';
import { DeliveryWorker } from './delivery-worker.js';
import { NetworkPolicy } from './network-policy.js';
import { dnsResolver, RESOLVE, type Resolve } from './resolver.js';
import { Sender } from './sender.js';

/** Delivers events to webhooks. */
@Module({
  providers: [
    DeliveryMetrics,
    DeliveryQueue,
    DeliveryWorker,
    { provide: Clock, useClass: SystemClock },
    { provide: RESOLVE, useFactory: () => dnsResolver() },
    {
      provide: NetworkPolicy,
      inject: [ENV],
      useFactory: ({ WEBHOOK_ALLOWED_NETWORKS }: EventsEnv) => new NetworkPolicy(WEBHOOK_ALLOWED_NETWORKS),
    },
    {
      provide: Sender,
      inject: [NetworkPolicy, RESOLVE],
      useFactory: (policy: NetworkPolicy, resolve: Resolve) => new Sender({ policy, resolve }),
    },
  ],
  exports: [Clock, DeliveryQueue, DeliveryWorker, NetworkPolicy, RESOLVE],
})
export class DeliveriesModule {}
