import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, RequiredScope } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import {
  ApiDeleteResource,
  ApiGetResource,
  ApiPage,
  ApiProblems,
  ApiPutResource,
  CallerIdPipe,
  IfMatch,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import {
  Delivery,
  DELIVERY_STATES,
  NewWebhook,
  PutWebhook,
  Replay,
  ReplayWebhookDto,
  Webhook,
  WebhookSecret,
} from './webhook.dto.js';
import { WebhooksService } from './webhooks.service.js';

const WebhookId = () => Param('webhookId', CallerIdPipe);

@ApiTags('Webhooks')
@RequiredScope('webhooks:write')
@Controller('webhooks')
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly deliveries: WebhookDeliveriesService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List the webhooks of the account' })
  @ApiPage(Webhook, 'By id')
  listWebhooks(@CurrentCaller() caller: Caller, @Query() query: ListQuery): Promise<Page<Webhook>> {
    return this.webhooks.list(caller, query);
  }

  @Get(':webhookId')
  @ApiOperation({ summary: 'Get one webhook of the account' })
  @ApiGetResource(Webhook, 'WEBHOOK_NOT_FOUND')
  getWebhook(@CurrentCaller() caller: Caller, @WebhookId() webhookId: string): Promise<Webhook> {
    return this.webhooks.get(caller, webhookId);
  }

  @Put(':webhookId')
  @ApiOperation({
    summary: 'Create or replace a webhook',
    description:
      'A new webhook receives the events that occur from now on; `replay` delivers earlier ones. At most 20 per account.',
  })
  @ApiPutResource(Webhook)
  @ApiResponse({
    status: 201,
    description: 'It is new: this response alone shows its secret',
    type: NewWebhook,
  })
  @ApiProblems('URL_FORBIDDEN', 'TOO_MANY_WEBHOOKS')
  async putWebhook(
    @CurrentCaller() caller: Caller,
    @WebhookId() webhookId: string,
    @Body() body: PutWebhook,
    @Res({ passthrough: true }) reply: FastifyReply,
    @IfMatch() ifMatch?: string,
  ): Promise<Webhook | NewWebhook> {
    const stored = await this.webhooks.put(caller, webhookId, body, ifMatch);
    void reply.status('secret' in stored ? 201 : 200);
    return stored;
  }

  @Delete(':webhookId')
  @ApiOperation({ summary: 'Delete a webhook and end its pending deliveries' })
  @ApiDeleteResource('WEBHOOK_NOT_FOUND')
  deleteWebhook(
    @CurrentCaller() caller: Caller,
    @WebhookId() webhookId: string,
    @IfMatch() ifMatch?: string,
  ): Promise<void> {
    return this.webhooks.delete(caller, webhookId, ifMatch);
  }

  @Post(':webhookId/rotate')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a new secret; the previous one also signs for 24 hours' })
  @ApiResponse({ status: 200, description: 'The new secret', type: WebhookSecret })
  @ApiProblems('WEBHOOK_NOT_FOUND')
  rotateWebhookSecret(
    @CurrentCaller() caller: Caller,
    @WebhookId() webhookId: string,
  ): Promise<WebhookSecret> {
    return this.webhooks.rotate(caller, webhookId);
  }

  @Post(':webhookId/ping')
  @HttpCode(202)
  @ApiOperation({ summary: 'Deliver `webhook.ping` to this webhook, even while it is disabled' })
  @ApiResponse({ status: 202, description: 'It will be delivered' })
  @ApiProblems('WEBHOOK_NOT_FOUND')
  pingWebhook(@CurrentCaller() caller: Caller, @WebhookId() webhookId: string): Promise<void> {
    return this.deliveries.ping(caller, webhookId);
  }

  @Get(':webhookId/deliveries')
  @ApiOperation({ summary: 'List the deliveries of a webhook' })
  @ApiQuery({
    name: 'state',
    required: false,
    enum: DELIVERY_STATES,
    description: 'Only those in this state',
  })
  @ApiPage(Delivery, 'Newest first')
  @ApiProblems('WEBHOOK_NOT_FOUND')
  listWebhookDeliveries(
    @CurrentCaller() caller: Caller,
    @WebhookId() webhookId: string,
    @Query() query: ListQuery,
  ): Promise<Page<Delivery>> {
    return this.deliveries.list(caller, webhookId, query);
  }

  @Post(':webhookId/deliveries/:eventId/retry')
  @HttpCode(202)
  @ApiOperation({ summary: 'Deliver one event again, now' })
  @ApiParam({ name: 'eventId', schema: { type: 'string' } })
  @ApiResponse({ status: 202, description: 'It will be delivered' })
  @ApiProblems('WEBHOOK_NOT_FOUND', 'EVENT_NOT_FOUND', 'WEBHOOK_DISABLED')
  retryWebhookDelivery(
    @CurrentCaller() caller: Caller,
    @WebhookId() webhookId: string,
    @Param('eventId') eventId: string,
  ): Promise<void> {
    return this.deliveries.retry(caller, webhookId, eventId);
  }

  @Post(':webhookId/replay')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Deliver the events of a time range again, under the same ids',
    description: 'All events of the types of the webhook, whether they were delivered before or not.',
  })
  @ApiResponse({ status: 202, description: 'They will be delivered', type: Replay })
  @ApiProblems('WEBHOOK_NOT_FOUND', 'WEBHOOK_DISABLED', 'TOO_MANY_REQUESTS')
  replayWebhook(
    @CurrentCaller() caller: Caller,
    @WebhookId() webhookId: string,
    @Body() body: ReplayWebhookDto,
  ): Promise<Replay> {
    return this.deliveries.replay(caller, webhookId, body);
  }
}
