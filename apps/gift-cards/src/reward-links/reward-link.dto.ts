import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

const OWN_TEXT = { type: 'string', nullable: true, minLength: 1, maxLength: 255 } as const;

/** For documentation only: the specification fixes the order of the checks, so the handler parses the body itself. */
export class GenerateRewardLink {
  @ApiProperty({ example: 25, description: 'Greater than 0; must match an inventory entry of the pool' })
  denomination: number;
  @ApiProperty({ example: 'EUR', description: 'ISO 4217; must match the same inventory entry' })
  currency: string;
  @ApiProperty({
    type: 'integer',
    example: 1811808000,
    description:
      'Unix seconds, in the future, by default at most 366 days from now. The link stops working at this time if unrevealed.',
  })
  expires_at: number;
  @ApiPropertyOptional({
    example: 'FR',
    description: 'ISO 3166-1 alpha-2. If missing: the first country, in alphabetical order, that has a card.',
  })
  country?: string;
  @ApiPropertyOptional({
    ...OWN_TEXT,
    example: 'spring',
    description:
      'Client-defined, like `journey_id` and `reference`; not checked to exist. Every event of the link carries them',
  })
  campaign_id?: string | null;
  @ApiPropertyOptional({
    ...OWN_TEXT,
    example: 'j-81f3',
    description: 'The journey that ends with this link',
  })
  journey_id?: string | null;
  @ApiPropertyOptional({ ...OWN_TEXT, example: 'order-1007' })
  reference?: string | null;
}

/** For documentation only, like the body above. */
export class ReplaceRewardLink {
  @ApiProperty({
    minLength: 1,
    maxLength: 255,
    example: 'The till rejected the code',
    description: 'Stored with the new link',
  })
  reason: string;
  @ApiPropertyOptional({
    type: 'integer',
    nullable: true,
    example: 1811808000,
    description:
      'As in generateRewardLink. If missing: the new link is valid for as long as the original was. Required with `cancel_unrevealed`',
  })
  expires_at?: number | null;
  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    example: false,
    description:
      '`true` for a link that never reached its recipient: it is cancelled and replaced. 409 LINK_ALREADY_REVEALED if it is revealed. Needs the scope `links:cancel` too. Default: false',
  })
  cancel_unrevealed?: boolean | null;
}

/** Bearer credentials: anyone who has them can get the card. */
export class RewardLinkCreated {
  @ApiProperty({
    format: 'uuid',
    example: '5d0f0c7e-3f1c-8b52-9c07-6a1d2f4e8b90',
    description: 'Not a credential',
  })
  id: string;
  @ApiProperty({ example: 'https://rewards.example.com/#AQJrMQ-MOlJ9HktknC9aGzxNXm8PFSzLdYg9dOMzQ2UlJ9Oo1A' })
  reward_link: string;
  @ApiProperty({ example: 'AQJrMQ-MOlJ9HktknC9aGzxNXm8PFSzLdYg9dOMzQ2UlJ9Oo1A' })
  token: string;
}
