import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsOmittable, IsText, ReadBack } from '@perkway/platform';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsIn, IsUUID, ValidateBy } from 'class-validator';
import { isBatch, isDate, MAX_BATCH } from '../loads/card-row.js';

const RESERVED = ['keep', 'cancel'] as const;
const MAX_CODES = 1_000;

/** Must have exactly one of the four optional members, which select cards. */
@ApiSchema({ name: 'WithdrawCards' })
@ReadBack()
export class WithdrawCards {
  @ApiProperty({ example: 'Recalled by the issuer', description: 'For operators; must not name a recipient' })
  @IsText(1, 255)
  reason: string;

  @ApiProperty({
    type: String,
    maxLength: MAX_BATCH,
    example: '2026-11-A',
    description: 'Selects the cards that were loaded with this `batch`',
  })
  @IsOmittable()
  @ValidateBy({
    name: 'isBatch',
    validator: {
      validate: (value) => isBatch(value) && value.trim() !== '',
      defaultMessage: () => `$property must be a string of 1 to ${MAX_BATCH} visible characters`,
    },
  })
  batch?: string | null;

  @ApiProperty({ type: String, format: 'uuid', description: 'Selects the cards of this load' })
  @IsOmittable()
  @IsUUID(undefined, { message: '$property must be a UUID' })
  load_id?: string | null;

  @ApiProperty({
    type: [String],
    minItems: 1,
    maxItems: MAX_CODES,
    description: 'Selects the cards with these codes. Codes that the pool does not have are ignored',
  })
  @IsOmittable()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(MAX_CODES)
  @IsText(1, 255, { each: true })
  codes?: string[] | null;

  @ApiProperty({
    type: String,
    format: 'date',
    description: 'Selects the cards whose `valid_until` is before this day, but none without `valid_until`',
  })
  @IsOmittable()
  @ValidateBy({
    name: 'isDate',
    validator: { validate: isDate, defaultMessage: () => '$property must be a day as YYYY-MM-DD' },
  })
  valid_until_before?: string | null;

  @ApiProperty({
    enum: RESERVED,
    example: 'keep',
    description:
      'What happens to selected cards that are reserved by a live link. `keep`: the card is withdrawn when the link is cancelled or expires. `cancel`: the link is cancelled and the card is withdrawn now.',
  })
  @IsIn(RESERVED)
  reserved: 'keep' | 'cancel';
}

class CardCounts {
  @ApiProperty({
    type: 'integer',
    example: 4810,
    description:
      'Cards that no RESERVED or REVEALED link holds, lapsed ones included: they would be withdrawn at once',
  })
  free: number;
  @ApiProperty({ type: 'integer', example: 12, description: 'Cards on RESERVED links' })
  reserved: number;
  @ApiProperty({
    type: 'integer',
    example: 1,
    description: 'Cards that were already revealed, and so would not be withdrawn',
  })
  redeemed: number;
}

@ApiSchema({ name: 'CountedCards' })
export class CountedCards extends CardCounts {
  @ApiProperty({ example: 25 })
  denomination: number;
  @ApiProperty({ example: 'EUR' })
  currency: string;
}

/** What a withdrawal would find. */
@ApiSchema({ name: 'WithdrawalCheck' })
export class WithdrawalCheck extends CardCounts {
  @ApiProperty({ type: [CountedCards], description: 'The same counts by the value of a card' })
  values: CountedCards[];
}

/** A withdrawal of cards. Missing values are null. */
@ApiSchema({ name: 'Withdrawal' })
export class Withdrawal {
  @ApiProperty({ format: 'uuid', example: '9d3e1b7a-4c52-8f06-a1d8-3e7f5b2c6a90' })
  id: string;
  @ApiProperty({
    enum: ['running', 'done'],
    example: 'done',
    description: '`done`: every selected card is withdrawn, except those whose links are kept or revealed',
  })
  state: 'running' | 'done';
  @ApiProperty({ example: 'Recalled by the issuer' })
  reason: string;
  @ApiProperty({ enum: RESERVED, example: 'keep' })
  reserved: 'keep' | 'cancel';
  @ApiProperty({ type: String, nullable: true, example: '2026-11-A' })
  batch: string | null;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null })
  load_id: string | null;
  @ApiProperty({ type: String, format: 'date', nullable: true, example: null })
  valid_until_before: string | null;
  @ApiProperty({ type: 'integer', example: 4810, description: 'Cards withdrawn so far' })
  withdrawn: number;
  @ApiProperty({
    type: 'integer',
    example: 12,
    description: 'Cards that will be withdrawn when their link is cancelled or expires',
  })
  kept: number;
  @ApiProperty({ type: 'integer', example: 0, description: 'Links that this withdrawal cancelled' })
  cancelled: number;
  @ApiProperty({
    type: [String],
    example: [],
    description: 'Ids of the links that this withdrawal cancelled, at most the first 1,000',
  })
  cancelled_links: string[];
  @ApiProperty({
    type: 'integer',
    example: 1,
    description: 'Selected cards that were already revealed, and so are not withdrawn',
  })
  redeemed: number;
  @ApiProperty({
    type: [String],
    example: ['5d0f0c7e-3f1c-8b52-9c07-6a1d2f4e8b90'],
    description: 'Links of those revealed cards, at most the first 1,000',
  })
  redeemed_links: string[];
  @ApiProperty({ format: 'date-time', example: '2026-11-20T09:30:00.000Z' })
  created_at: string;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2026-11-20T09:30:04.120Z',
  })
  finished_at: string | null;
}
