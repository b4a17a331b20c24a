import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'AppHealth' })
class AppHealthDto {
  @ApiProperty({ example: 'perks' })
  name: string;
  @ApiProperty({
    enum: ['up', 'degraded', 'down'],
    description: 'degraded: it responds that it is not ready; down: it does not respond',
    example: 'up',
  })
  state: 'up' | 'degraded' | 'down';
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Response time of the readiness check',
    example: 3,
  })
  latency_ms: number | null;
  @ApiProperty({
    type: 'boolean',
    nullable: true,
    description: 'Whether its database responds; null if it has none or does not tell',
    example: true,
  })
  database: boolean | null;
}

@ApiSchema({ name: 'Broker' })
class BrokerDto {
  @ApiProperty({ description: 'Whether its streams respond', example: true })
  available: boolean;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Its response time', example: 2 })
  latency_ms: number | null;
}

@ApiSchema({ name: 'WebhookBacklog' })
class WebhookBacklogDto {
  @ApiProperty({
    type: 'integer',
    description: 'Deliveries that wait for an attempt, up to 100,000',
    example: 0,
  })
  pending: number;
  @ApiProperty({
    description:
      'Seconds since the oldest of them became due, of the webhooks that are not failing; 0 if none is due',
    example: 0,
  })
  overdue_seconds: number;
}

@ApiSchema({ name: 'Outbox' })
class OutboxDto {
  @ApiProperty({ example: 'links' })
  app: string;
  @ApiProperty({ type: 'integer', description: 'Events that are only in its memory', example: 0 })
  buffered: number;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Events in its outbox, up to 10,000; null if the app does not report it',
    example: 0,
  })
  waiting: number | null;
  @ApiProperty({ description: 'Age of the oldest event in its outbox; 0 if the outbox is empty', example: 0 })
  oldest_seconds: number;
}

@ApiSchema({ name: 'Consumer' })
class ConsumerDto {
  @ApiProperty({ description: 'The app that reads the stream', example: 'analytics-ingest' })
  app: string;
  @ApiProperty({ example: 'TRACKING_EVENTS' })
  stream: string;
  @ApiProperty({ example: 'analytics-query' })
  name: string;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Messages not yet delivered to it; null while the broker does not know it or does not respond',
    example: 0,
  })
  pending: number | null;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Messages delivered to it but not yet stored; null like `pending`',
    example: 0,
  })
  ack_pending: number | null;
  @ApiProperty({
    nullable: true,
    type: 'number',
    description: 'Age of the oldest message that is not stored; null if the app does not report it',
    example: 0,
  })
  oldest_seconds: number | null;
}

@ApiSchema({ name: 'FleetHealth' })
export class FleetHealthDto {
  @ApiProperty({ type: [AppHealthDto] })
  apps: AppHealthDto[];
  @ApiProperty({ type: BrokerDto })
  broker: BrokerDto;
  @ApiProperty({ type: [OutboxDto] })
  outbox: OutboxDto[];
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Events that could not be stored; null while the broker does not respond',
    example: 0,
  })
  dead_letters: number | null;
  @ApiProperty({ type: [ConsumerDto] })
  consumers: ConsumerDto[];
  @ApiProperty({
    type: WebhookBacklogDto,
    nullable: true,
    description: 'Null while the app `events` does not report it',
  })
  webhooks: WebhookBacklogDto | null;
  @ApiProperty({
    type: 'number',
    nullable: true,
    description:
      'Age of the oldest unfinished erasure, 0 if there is none; null while the app `token-issuer` does not report it',
    example: 0,
  })
  erasures_oldest_seconds: number | null;
  @ApiProperty({ format: 'date-time', example: '2026-11-20T16:02:00.000Z' })
  checked_at: string;
}
