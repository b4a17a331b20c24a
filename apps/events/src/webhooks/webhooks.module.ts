import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeliveriesModule } from '../deliveries/deliveries.module.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhookEntity } from './webhook.entity.js';
import { WebhookStatesController } from './webhook-states.controller.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

@Module({
  imports: [DeliveriesModule, TypeOrmModule.forFeature([WebhookEntity])],
  controllers: [WebhooksController, WebhookStatesController],
  providers: [WebhooksService, WebhookDeliveriesService],
})
export class WebhooksModule {}
