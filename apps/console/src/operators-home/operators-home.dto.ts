import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { LISTED_LIMITS_PER, type NearlyUsedLimit } from '@perkway/domain';

@ApiSchema({ name: 'AccountTraffic' })
class AccountTrafficDto {
  @ApiProperty({ example: 'ostervale-bank' })
  account_id: string;
  @ApiProperty({ type: 'integer', description: 'Events of the last seven days', example: 1200 })
  events: number;
  @ApiProperty({ type: 'integer', description: 'Events of the seven days before', example: 900 })
  events_before: number;
  @ApiProperty({ type: 'integer', description: 'Events of the last 24 full hours', example: 180 })
  day_events: number;
  @ApiProperty({ type: 'integer', description: 'Events of the 24 hours before', example: 175 })
  day_events_before: number;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The last event of these two weeks; null while the event store runs an earlier release',
    example: '2026-11-20T16:48:03.120Z',
  })
  last_event_at: string | null;
}

@ApiSchema({ name: 'WebhookState' })
export class WebhookStateDto {
  @ApiProperty({ example: 'ostervale-bank' })
  account_id: string;
  @ApiProperty({ example: 'orders' })
  id: string;
  @ApiProperty({ description: 'Scheme and host of its URL', example: 'https://shop.example' })
  origin: string;
  @ApiProperty({ example: true })
  enabled: boolean;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'First failed attempt since the last success',
    example: '2026-11-20T16:02:00.000Z',
  })
  failing_since: string | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the service disabled it',
    example: null,
  })
  disabled_at: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why it is disabled, or what its deliveries fail with',
    example: 'Status 503',
  })
  reason: string | null;
  @ApiProperty({ type: 'integer', description: 'Deliveries that wait, up to 10,000', example: 12 })
  pending: number;
}

@ApiSchema({ name: 'LinkJobThatNeedsAttention' })
export class LinkJobThatNeedsAttentionDto {
  @ApiProperty({ example: 'ostervale-bank' })
  account_id: string;
  @ApiProperty({ format: 'uuid', example: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c' })
  id: string;
  @ApiProperty({ type: String, nullable: true, example: 'Spring mailing' })
  name: string | null;
  @ApiProperty({ enum: ['failed', 'awaiting_approval'], example: 'failed' })
  state: 'failed' | 'awaiting_approval';
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Error code of a failed job',
    example: 'LIMIT_REACHED',
  })
  code: string | null;
  @ApiProperty({ type: 'integer', description: 'Links', example: 200 })
  total: number;
  @ApiProperty({
    format: 'date-time',
    description: 'When it began to wait, or began to make its last links',
    example: '2026-11-20T16:02:00.000Z',
  })
  since: string;
}

class UsedLinksDto {
  @ApiProperty({ type: 'integer', example: 1000 })
  limit: number;
  @ApiProperty({ type: 'integer', example: 870 })
  used: number;
}

class UsedAmountDto {
  @ApiProperty({ example: 25000 })
  limit: number;
  @ApiProperty({ example: 21750 })
  used: number;
  @ApiProperty({ example: 'EUR' })
  currency: string;
}

@ApiSchema({ name: 'NearlyUsedLimit' })
export class NearlyUsedLimitDto {
  @ApiProperty({ example: 'ostervale-bank' })
  account_id: string;
  @ApiProperty({ example: 'ostervale-month' })
  id: string;
  @ApiProperty({ enum: LISTED_LIMITS_PER, example: 'campaign_id' })
  per: NearlyUsedLimit['per'];
  @ApiProperty({
    description:
      'The account, pool, campaign, creator or key whose links count; `per` says which of these it is',
    example: 'ostervale-spring-travel',
  })
  value: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the product, if the value is a pool that has one',
    example: null,
  })
  product: string | null;
  @ApiProperty({ type: UsedLinksDto, nullable: true })
  links: UsedLinksDto | null;
  @ApiProperty({ type: UsedAmountDto, nullable: true })
  amount: UsedAmountDto | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'End of the period; null for a limit without one',
    example: '2026-12-01T00:00:00.000Z',
  })
  resets_at: string | null;
}

@ApiSchema({ name: 'OperatorsHome' })
export class OperatorsHomeDto {
  @ApiProperty({
    format: 'date-time',
    description: 'Start of the earlier week',
    example: '2026-11-06T17:00:00.000Z',
  })
  from: string;
  @ApiProperty({
    format: 'date-time',
    description: 'End of the later week',
    example: '2026-11-20T17:00:00.000Z',
  })
  to: string;
  @ApiProperty({
    format: 'date-time',
    description: 'End of the last 24 full hours',
    example: '2026-11-20T16:00:00.000Z',
  })
  day_to: string;
  @ApiProperty({ type: [AccountTrafficDto], description: 'Accounts with events in these two weeks' })
  traffic: AccountTrafficDto[];
  @ApiProperty({
    type: [WebhookStateDto],
    description: 'Those that fail or that the service disabled, newest first, up to 200',
  })
  webhooks: WebhookStateDto[];
  @ApiProperty({ description: 'Whether any webhook is enabled', example: true })
  has_webhooks: boolean;
  @ApiProperty({
    type: [LinkJobThatNeedsAttentionDto],
    description:
      'Those that wait for approval, then those that failed in the last seven days, up to 200, each newest first',
  })
  link_jobs: LinkJobThatNeedsAttentionDto[];
}
