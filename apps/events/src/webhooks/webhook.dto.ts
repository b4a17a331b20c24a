import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { EVENT_TYPES, type EventType } from '@perkway/domain';
import { IsInstant, IsOmittable, IsText, ReadBack, ResourceTimes } from '@perkway/platform';
import { ArrayMinSize, ArrayUnique, IsArray, IsBoolean, IsIn } from 'class-validator';

export const MAX_WEBHOOKS = 20;
const MAX_DESCRIPTION = 300;
const MAX_URL = 2_048;

const URL_EXAMPLE = 'https://shop.example/perkway-events';
const ID_EXAMPLE = 'orders';
const DESCRIPTION_EXAMPLE = 'Marks orders whose gift was opened';

@ReadBack('failing_since', 'disabled_at', 'disabled_reason')
export class PutWebhook {
  @ApiProperty({
    description: 'An https URL without user name and password that does not lead to a private address',
    example: URL_EXAMPLE,
  })
  @IsText(1, MAX_URL, {
    message: `$property must be an absolute https URL of up to ${MAX_URL} characters, such as ${URL_EXAMPLE}`,
  })
  url: string;

  @ApiProperty({
    description: 'Only events of these types. All, if left out',
    type: 'array',
    items: { type: 'string', enum: [...EVENT_TYPES] },
    minItems: 1,
    uniqueItems: true,
    example: ['reward_link.revealed'],
  })
  @IsOmittable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(EVENT_TYPES, { each: true })
  types?: EventType[] | null;

  @ApiProperty({
    type: 'boolean',
    description:
      'Keeps the order of events of the same subject: a failing delivery holds back later ones of its subject. Default: false',
    example: false,
  })
  @IsOmittable()
  @IsBoolean()
  ordered?: boolean | null;

  @ApiProperty({
    type: 'boolean',
    description: 'false ends all pending deliveries; true enables a disabled webhook. Default: true',
    example: true,
  })
  @IsOmittable()
  @IsBoolean()
  enabled?: boolean | null;

  @ApiProperty({ type: String, example: DESCRIPTION_EXAMPLE })
  @IsOmittable()
  @IsText(0, MAX_DESCRIPTION)
  description?: string | null;
}

export class Webhook extends ResourceTimes {
  @ApiProperty({ example: ID_EXAMPLE })
  id: string;
  @ApiProperty({ example: URL_EXAMPLE })
  url: string;
  @ApiProperty({
    type: 'array',
    items: { type: 'string', enum: [...EVENT_TYPES] },
    nullable: true,
    description: 'Null: all',
    example: ['reward_link.revealed'],
  })
  types: EventType[] | null;
  @ApiProperty({ example: false })
  ordered: boolean;
  @ApiProperty({ example: true })
  enabled: boolean;
  @ApiProperty({ type: String, nullable: true, example: DESCRIPTION_EXAMPLE })
  description: string | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Since when every delivery has failed; null while they succeed',
    example: null,
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
    description: 'Why the service disabled it',
    example: null,
  })
  disabled_reason: string | null;
}

export class NewWebhook extends Webhook {
  @ApiProperty({
    description: 'Signs the deliveries. Shown only now',
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD4mUEyuDO1ek=',
  })
  secret: string;
}

export class WebhookSecret {
  @ApiProperty({
    description: 'Signs from now on, beside the previous one for 24 hours. Shown only now',
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD4mUEyuDO1ek=',
  })
  secret: string;
}

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export class Delivery {
  @ApiProperty({ example: 'Zk3vR1tq8XwYb2nLp0sHdA' })
  event_id: string;
  @ApiProperty({ enum: EVENT_TYPES, example: 'reward_link.revealed' })
  type: EventType;
  @ApiProperty({ enum: DELIVERY_STATES, example: 'pending' })
  state: DeliveryState;
  @ApiProperty({ type: 'integer', example: 1 })
  attempts: number;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Status of the last response; null if the last attempt got none',
    example: 503,
  })
  last_status: number | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The first 200 characters of the error of the last attempt',
    example: 'Service Unavailable',
  })
  last_error: string | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null unless it is pending',
    example: '2026-11-05T09:30:05.000Z',
  })
  next_attempt_at: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  delivered_at: string | null;
}

@ReadBack()
@ApiSchema({ name: 'ReplayWebhook' })
export class ReplayWebhookDto {
  @ApiProperty({
    description: 'Events that occurred at or after this time',
    example: '2026-11-05T00:00:00Z',
  })
  @IsInstant()
  from: string;

  @ApiProperty({
    description: 'Events that occurred at or before this time. Default: now',
    example: '2026-11-05T23:59:59Z',
  })
  @IsOmittable()
  @IsInstant()
  to?: string | null;
}

export class Replay {
  @ApiProperty({ type: 'integer', description: 'Events that are delivered again', example: 42 })
  events: number;
}
