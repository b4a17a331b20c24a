import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'AppHealth' })
class AppHealthDto {
  @ApiProperty({ example: 'perks' })
  name: string;
  @ApiProperty({
    enum: ['up', 'degraded', 'down'],
    description: 'degraded: it answers that it is not ready; down: it does not answer',
    example: 'up',
  })
  state: 'up' | 'degraded' | 'down';
  @ApiProperty({ type: 'integer', nullable: true, description: 'Until it said so', example: 3 })
  latency_ms: number | null;
}

@ApiSchema({ name: 'Outbox' })
class OutboxDto {
  @ApiProperty({ example: 'links' })
  app: string;
  @ApiProperty({ type: 'integer', description: 'Events that are in its memory only', example: 0 })
  buffered: number;
  @ApiProperty({ description: 'Age of the oldest event that waits in its outbox; 0: none does', example: 0 })
  oldest_seconds: number;
}

@ApiSchema({ name: 'Consumer' })
class ConsumerDto {
  @ApiProperty({ example: 'TRACKING_EVENTS' })
  stream: string;
  @ApiProperty({ example: 'analytics-query' })
  name: string;
  @ApiProperty({ type: 'integer', description: 'Events that it has not been given', example: 0 })
  pending: number;
  @ApiProperty({ type: 'integer', description: 'Events that it has not stored yet', example: 0 })
  ack_pending: number;
}

@ApiSchema({ name: 'FleetHealth' })
export class FleetHealthDto {
  @ApiProperty({ type: [AppHealthDto] })
  apps: AppHealthDto[];
  @ApiProperty({ type: [OutboxDto] })
  outbox: OutboxDto[];
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Events that could not be stored; null while the broker does not answer',
    example: 0,
  })
  dead_letters: number | null;
  @ApiProperty({ type: [ConsumerDto] })
  consumers: ConsumerDto[];
  @ApiProperty({ format: 'date-time', example: '2026-11-20T16:02:00.000Z' })
  checked_at: string;
}
