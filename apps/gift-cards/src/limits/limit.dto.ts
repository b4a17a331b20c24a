import { applyDecorators, Header } from '@nestjs/common';
import {
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
  ApiSchema,
} from '@nestjs/swagger';
import { ApiProblems, IsCallerId, IsOmittable, IsText, ReadBack, ResourceTimes } from '@perkway/platform';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsNumber, IsObject, IsUUID, Max, Min, ValidateNested } from 'class-validator';

export const PERIODS = ['day', 'week', 'month', 'year', 'total'] as const;
export type Period = (typeof PERIODS)[number];
export const LIMITED_BY = [
  'account',
  'pool_id',
  'campaign_id',
  'journey_id',
  'created_by',
  'reference',
  'key_id',
] as const;
export type LimitedBy = (typeof LIMITED_BY)[number];

const MAX_LINKS = 1_000_000_000;
/** Exact to the cent as a JSON number. */
const MAX_AMOUNT = 1_000_000_000_000;

@ApiSchema({ name: 'LimitOnly' })
export class LimitOnly {
  @ApiProperty({ type: String, format: 'uuid', example: '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10' })
  @IsOmittable()
  @IsUUID(undefined, { message: '$property must be a UUID' })
  pool_id?: string | null;

  @ApiProperty({ example: 'spring' })
  @IsOmittable()
  @IsText(1, 255)
  campaign_id?: string | null;
}

@ReadBack()
export class PutLimit {
  @ApiProperty({ example: 'harbour-bank', description: 'Must be an existing account' })
  @IsCallerId()
  owner: string;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LINKS,
    example: 1000,
    description: 'Links in every currency. Send `links`, or `amount` with `currency`, or both',
  })
  @IsOmittable()
  @IsInt()
  @Min(1)
  @Max(MAX_LINKS)
  links?: number | null;

  @ApiProperty({
    type: Number,
    maximum: MAX_AMOUNT,
    example: 2500.5,
    description: 'Above 0: the sum of the denominations of links in `currency`',
  })
  @IsOmittable()
  @IsNumber()
  @Max(MAX_AMOUNT)
  amount?: number | null;

  @ApiProperty({ type: String, example: 'EUR', description: 'ISO 4217; needed with `amount`' })
  @IsOmittable()
  currency?: string | null;

  @ApiProperty({ enum: PERIODS, example: 'month', description: 'Weeks begin on Monday' })
  @IsIn(PERIODS)
  period: Period;

  @ApiProperty({
    type: String,
    example: 'Europe/Paris',
    description: 'IANA time zone in whose midnight periods begin. Default: `UTC`',
  })
  @IsOmittable()
  @IsText(1, 64)
  timezone?: string | null;

  @ApiProperty({
    enum: LIMITED_BY,
    example: 'account',
    description:
      'The limit applies separately to each value of this field. Links without a value are not limited. Default: `account`',
  })
  @IsOmittable()
  @IsIn(LIMITED_BY)
  per?: LimitedBy | null;

  @ApiProperty({ type: LimitOnly, description: 'Counts only these links. Omit it to count all' })
  @IsOmittable()
  @IsObject()
  @ValidateNested()
  @Type(() => LimitOnly)
  only?: LimitOnly | null;
}

/** A limit as stored. Missing values are null. */
@ApiSchema({ name: 'Limit' })
export class LimitResource extends ResourceTimes {
  @ApiProperty({ example: 'monthly-budget' })
  id: string;
  @ApiProperty({ example: 'harbour-bank' })
  owner: string;
  @ApiProperty({ type: 'integer', nullable: true, example: 1000 })
  links: number | null;
  @ApiProperty({ type: Number, nullable: true, example: 2500.5 })
  amount: number | null;
  @ApiProperty({ type: String, nullable: true, example: 'EUR' })
  currency: string | null;
  @ApiProperty({ enum: PERIODS, example: 'month' })
  period: Period;
  @ApiProperty({ example: 'Europe/Paris' })
  timezone: string;
  @ApiProperty({ enum: LIMITED_BY, example: 'account' })
  per: LimitedBy;
  @ApiProperty({ type: LimitOnly, nullable: true, description: 'Counts only these links' })
  only: LimitOnly | null;
}

@ApiSchema({ name: 'LinksUsage' })
export class LinksUsage {
  @ApiProperty({ type: 'integer', example: 1000 })
  limit: number;
  @ApiProperty({ type: 'integer', example: 412 })
  used: number;
}
@ApiSchema({ name: 'AmountUsage' })
export class AmountUsage {
  @ApiProperty({ example: 2500.5 })
  limit: number;
  @ApiProperty({ example: 1030 })
  used: number;
  @ApiProperty({ example: 'EUR' })
  currency: string;
}
@ApiSchema({ name: 'LimitUsage' })
export class LimitUsage {
  @ApiProperty({ example: 'harbour-bank', description: 'The account, or the `value` that was asked for' })
  value: string;
  @ApiProperty({
    format: 'date-time',
    example: '2026-11-01T00:00:00.000Z',
    description: '1970 if the period is `total`',
  })
  period_start: string;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2026-12-01T00:00:00.000Z',
    description: 'Null if the period is `total`',
  })
  resets_at: string | null;
  @ApiPropertyOptional({ type: LinksUsage })
  links?: LinksUsage;
  @ApiPropertyOptional({ type: AmountUsage })
  amount?: AmountUsage;
}

/** Documents the usage of a limit, and keeps it out of caches. */
export const ApiLimitUsage = (summary: string) =>
  applyDecorators(
    Header('cache-control', 'no-store'),
    ApiOperation({
      summary,
      description: 'Links that were cancelled or expired unrevealed do not count.',
    }),
    ApiQuery({
      name: 'value',
      required: false,
      description:
        'The value of `per`, such as a pool id or the `counted_as` of a key. Needed unless `per` is `account`',
      schema: { type: 'string', maxLength: 255 },
    }),
    ApiResponse({ status: 200, description: 'The usage of the limit', type: LimitUsage }),
    ApiProblems('LIMIT_NOT_FOUND', 'VALIDATION_FAILED'),
  );
