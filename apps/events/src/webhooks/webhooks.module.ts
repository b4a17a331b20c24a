import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeliveriesModule } from '../deliveries/deliveries.module.js';
import { DeliveriesService } from './deliveries.service.js';
import { FailingWebhooksController } from './failing-webhooks.controller.js';
import { WebhookEntity } from './webhook.entity.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

@Module({
  imports: [DeliveriesModule, TypeOrmModule.forFeature([WebhookEntity])],
  controllers: [WebhooksController, FailingWebhooksController],
  providers: [WebhooksService, DeliveriesService],
})
export class WebhooksModule {}
