import { ApiProperty, PickType } from '@nestjs/swagger';

/** A link as returned to the account that created it. Missing values are null. */
export class RewardLink {
  @ApiProperty({ format: 'uuid', example: '5d0f0c7e-3f1c-8b52-9c07-6a1d2f4e8b90' })
  id: string;
  @ApiProperty({ format: 'uuid', example: '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10' })
  pool_id: string;
  @ApiProperty({
    enum: ['RESERVED', 'REVEALED', 'EXPIRED'],
    example: 'RESERVED',
    description: 'An unrevealed link is EXPIRED from `expires_at` on; cancelling moves `expires_at` to now',
  })
  state: string;
  @ApiProperty({ example: 25 })
  denomination: number;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiProperty({ example: 'FR' })
  country: string;
  @ApiProperty({ example: 'crm-campaign-42' })
  created_by: string;
  @ApiProperty({ format: 'date-time', example: '2026-03-01T09:30:00.000Z' })
  created_at: string;
  @ApiProperty({ type: 'integer', example: 1811808000, description: 'Unix seconds' })
  expires_at: number;
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  revealed_at: string | null;
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  cancelled_at: string | null;
  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    example: null,
    description:
      'When the withdrawal of its card began. Null for a revealed link, whose card stays with the recipient',
  })
  withdrawn_at: string | null;
  @ApiProperty({ type: 'string', nullable: true, example: 'spring' })
  campaign_id: string | null;
  @ApiProperty({ type: 'string', nullable: true, example: 'j-81f3' })
  journey_id: string | null;
  @ApiProperty({ type: 'string', nullable: true, example: 'order-1007' })
  reference: string | null;
  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    example: null,
    description: 'The link that it replaces',
  })
  replaces: string | null;
  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    example: null,
    description: 'The link that replaces it',
  })
  replaced_by: string | null;
  @ApiProperty({
    type: 'string',
    nullable: true,
    example: null,
    description: 'Why it replaces another link. Null after an erasure',
  })
  replacement_reason: string | null;
}

/** The members of a link that cannot identify a person. */
export const IMPERSONAL = [
  'id',
  'pool_id',
  'state',
  'denomination',
  'currency',
  'country',
  'created_at',
  'expires_at',
  'revealed_at',
  'cancelled_at',
] as const;

/** A link of any account. */
export class FoundRewardLink extends PickType(RewardLink, IMPERSONAL) {
  @ApiProperty({ example: 'harbour-bank' })
  owner: string;
}

export class FoundRewardLinks {
  @ApiProperty({ type: [FoundRewardLink] })
  data: FoundRewardLink[];
}
