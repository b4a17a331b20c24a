import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { LinkStates } from '@perkway/domain';
import { IsOmittable, IsText } from '@perkway/platform';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsNumber,
  IsObject,
  IsPositive,
  IsUUID,
  Max,
  Min,
} from 'class-validator';

export const MAX_LINKS = 10_000;
const MAX_REFERENCE = 255;
const MAX_NAME = 100;
const MAX_COMMENT = 1_000;
export const MAX_ATTRIBUTES = 20;
const ATTRIBUTES = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Custom attributes (`cmeta_*`, `utm_*`) that every event of the links carries',
  example: { utm_source: 'mailchimp', utm_medium: 'email' },
} as const;
/** Larger values are probably milliseconds. */
const MAX_SECONDS = 1e11;

@ApiSchema({ name: 'CreateLinkJob' })
export class CreateLinkJobDto {
  @ApiProperty({ type: String, description: 'To recognize the job later', example: 'Spring mailing' })
  @IsOmittable()
  @IsText(1, MAX_NAME)
  name?: string | null;
  @ApiProperty({ format: 'uuid', example: '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10' })
  @IsUUID()
  poolId: string;
  @ApiProperty({
    type: String,
    description: 'The campaign that the links count toward',
    example: 'ostervale-spring-travel',
  })
  @IsOmittable()
  @IsText(1, MAX_REFERENCE)
  campaign?: string | null;
  @ApiProperty({ example: 25 })
  @IsNumber()
  @IsPositive()
  denomination: number;
  @ApiProperty({ example: 'EUR' })
  @IsText(3, 3)
  currency: string;
  @ApiProperty({ type: String, example: 'FR' })
  @IsOmittable()
  @IsText(2, 2)
  country?: string | null;
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Unix seconds; default: in 90 days',
    example: 1811808000,
  })
  @IsOmittable()
  @IsInt()
  @Min(1)
  @Max(MAX_SECONDS)
  expires_at?: number | null;
  @ApiProperty({
    type: [String],
    description: 'One link per reference, which the link carries; instead of `count`',
    example: ['customer-1007', 'customer-1008'],
  })
  @IsOmittable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_LINKS)
  @IsText(1, MAX_REFERENCE, { each: true })
  references?: string[] | null;
  @ApiProperty({
    type: Boolean,
    default: false,
    description:
      'Each reference is also the `journey_id` of its link, so that the link belongs to the journey of its recipient',
    example: true,
  })
  @IsOmittable()
  @IsBoolean()
  references_are_journey_ids?: boolean | null;
  @ApiProperty({ ...ATTRIBUTES, maxProperties: MAX_ATTRIBUTES })
  @IsOmittable()
  @IsObject()
  attributes?: Record<string, string> | null;
  @ApiProperty({
    type: 'integer',
    description: 'Number of links without a reference; instead of `references`',
    minimum: 1,
    maximum: MAX_LINKS,
    example: 200,
  })
  @IsOmittable()
  @IsInt()
  @Min(1)
  @Max(MAX_LINKS)
  count?: number | null;
}

@ApiSchema({ name: 'CheckReferences' })
export class CheckReferencesDto {
  @ApiProperty({ type: [String], example: ['customer-1007', 'customer-1008'] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_LINKS)
  @IsText(1, MAX_REFERENCE, { each: true })
  references: string[];
}

@ApiSchema({ name: 'LinkedReferences' })
export class LinkedReferencesDto {
  @ApiProperty({
    type: [String],
    description: 'References of the request for which a job has created a link, or can still create one',
    example: ['customer-1007'],
  })
  references: string[];
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the latest of these jobs was created',
    example: '2026-11-20T09:30:00.000Z',
  })
  latest: string | null;
}

@ApiSchema({ name: 'DecideLinkJob' })
export class DecideLinkJobDto {
  @ApiProperty({ description: 'The reason, for the creator and the audit log', example: 'Within the budget' })
  @IsText(1, MAX_COMMENT)
  comment: string;
}

export const JOB_STATES = [
  'awaiting_approval',
  'rejected',
  'lapsed',
  'running',
  'stopped',
  'done',
  'failed',
] as const;
export type LinkJobState = (typeof JOB_STATES)[number];

@ApiSchema({ name: 'CreatedLinkJob' })
export class CreatedLinkJobDto {
  @ApiProperty({ format: 'uuid', example: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c' })
  id: string;
  @ApiProperty({
    enum: JOB_STATES,
    description: '`awaiting_approval` if the job is larger than the account allows without an approval',
    example: 'running',
  })
  state: LinkJobState;
}

@ApiSchema({ name: 'LinkJobApproval' })
export class LinkJobApprovalDto {
  @ApiProperty({
    format: 'date-time',
    description: 'Until then the job can be approved',
    example: '2026-11-27T16:02:00.000Z',
  })
  lapses_at: string;
  @ApiProperty({
    description: 'Whether the signed-in person may approve or reject the job now',
    example: true,
  })
  may_decide: boolean;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Who approved or rejected the job',
    example: null,
  })
  decided_by: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  decided_at: string | null;
  @ApiProperty({ type: String, nullable: true, example: null })
  comment: string | null;
}

@ApiSchema({ name: 'RefusedLink' })
class RefusedLinkDto {
  @ApiProperty({ type: 'integer', description: 'From 1', example: 17 })
  row: number;
  @ApiProperty({ example: 'NO_AVAILABLE_CARDS' })
  code: string;
}

@ApiSchema({ name: 'LinkJob' })
export class LinkJobDto extends CreatedLinkJobDto {
  @ApiProperty({ type: String, nullable: true, example: 'Spring mailing' })
  name: string | null;
  @ApiProperty({ type: 'integer', example: 200 })
  total: number;
  @ApiProperty({ type: 'integer', example: 120 })
  made: number;
  @ApiProperty({
    type: [RefusedLinkDto],
    description: 'The first 100 failed rows; resuming the job retries them',
  })
  failed: RefusedLinkDto[];
  @ApiProperty({ type: String, nullable: true, description: 'Error code if the job failed', example: null })
  code: string | null;
  @ApiProperty({ format: 'uuid', example: '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10' })
  pool_id: string;
  @ApiProperty({ type: String, nullable: true, example: 'ostervale-spring-travel' })
  campaign_id: string | null;
  @ApiProperty({ description: 'Whether each reference is also a `journey_id`', example: true })
  references_are_journey_ids: boolean;
  @ApiProperty(ATTRIBUTES)
  attributes: Record<string, string>;
  @ApiProperty({ example: 25 })
  denomination: number;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiProperty({ type: 'integer', example: 1811808000 })
  expires_at: number;
  @ApiProperty({ format: 'date-time', example: '2026-11-20T16:02:00.000Z' })
  created_at: string;
  @ApiProperty({ description: 'The key or e-mail address of the creator', example: 'Marketing' })
  created_by: string;
  @ApiProperty({
    type: LinkJobApprovalDto,
    nullable: true,
    description: 'Null for a job that needs no approval',
    example: null,
  })
  approval: LinkJobApprovalDto | null;
}

@ApiSchema({ name: 'LinkStates' })
export class LinkStatesDto {
  @ApiProperty({ type: 'integer', example: 120 })
  waiting: number;
  @ApiProperty({ type: 'integer', example: 75 })
  opened: number;
  @ApiProperty({ type: 'integer', example: 3 })
  cancelled: number;
  @ApiProperty({ type: 'integer', example: 2 })
  expired: number;
}

export const LINK_STATES: readonly (keyof LinkStates)[] = ['waiting', 'opened', 'cancelled', 'expired'];

@ApiSchema({ name: 'LinkOfJob' })
export class LinkOfJobDto {
  @ApiProperty({ type: 'integer', description: 'Row of the job, from 1', example: 17 })
  row: number;
  @ApiProperty({ type: String, nullable: true, example: 'customer-1007' })
  reference: string | null;
  @ApiProperty({ format: 'uuid', example: '5b8a6c1e-3f0d-4a57-9c2b-7d1e8f0a4b63' })
  link_id: string;
  @ApiProperty({ enum: LINK_STATES, example: 'opened' })
  state: keyof LinkStates;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The link that replaces it',
    example: null,
  })
  replaced_by: string | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2026-11-20T16:48:03.120Z',
  })
  opened_at: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  cancelled_at: string | null;
}

@ApiSchema({ name: 'CancelLinks' })
export class CancelLinksDto {
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: '`next` of the previous response; first 0',
    example: 0,
  })
  @IsInt()
  @Min(0)
  @Max(MAX_LINKS)
  after: number;
}

@ApiSchema({ name: 'CancelledLinks' })
export class CancelledLinksDto {
  @ApiProperty({ type: 'integer', description: 'Links of these rows that are cancelled now', example: 480 })
  cancelled: number;
  @ApiProperty({ type: 'integer', description: 'Links of these rows that were opened before', example: 20 })
  opened: number;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Send it as `after` to cancel the next rows; null if there are none',
    example: 500,
  })
  next: number | null;
}
