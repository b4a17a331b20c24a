import { Module } from '@nestjs/common';
import { AuthModule } from '@perkway/auth';
import { DatabaseModule } from '@perkway/platform';
import { ErasuresModule } from './erasures/erasures.module.js';
import { FeedModule } from './feed/feed.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/**
 * Turns what happens in the fleet into one ordered feed per account.
 *
 * The feed and the webhooks read the table `events`. Positions of an account start at 1, have no gaps, and become
 * visible in their order, so a reader that continues after the last position it saw misses nothing
 * (docs/adr/0039-event-feed.md). `feeds.last_position` is the newest position of an account.
 */
@Module({ imports: [DatabaseModule, AuthModule, FeedModule, ErasuresModule, WebhooksModule] })
export class AppModule {}
