import { IsText } from '@perkway/platform';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray } from 'class-validator';

const MAX_CODES = 50_000;
const MAX_CODE_LENGTH = 255;

@ApiSchema({ name: 'LoadCouponCodes' })
export class LoadCouponCodesDto {
  @ApiProperty({
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: MAX_CODE_LENGTH },
    minItems: 1,
    maxItems: MAX_CODES,
    example: ['SPA-7QH2-M4', 'SPA-9KX1-P8'],
  })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_CODES)
  @IsText(1, MAX_CODE_LENGTH, { each: true })
  codes: string[];
}

export class LoadedCouponCodes {
  @ApiProperty({ type: 'integer', description: 'Number of new codes', example: 2 })
  imported: number;
  @ApiProperty({
    type: 'integer',
    description: 'Number of codes that the perk already has or that appear twice in this request',
    example: 0,
  })
  duplicates: number;
}

export class CouponCodeStock {
  @ApiProperty({ type: 'integer', description: 'All codes ever loaded', example: 150 })
  loaded: number;
  @ApiProperty({ type: 'integer', example: 12 })
  allocated: number;
  @ApiProperty({ type: 'integer', example: 138 })
  left: number;
}

@ApiSchema({ name: 'AllocateCouponCode' })
export class AllocateCouponCodeDto {
  @ApiProperty({
    description: "The account's own id of the customer; the same id always gets the same code",
    example: 'customer-4711',
  })
  @IsText(1, 255)
  customer_id: string;
}

export class AllocatedCouponCode {
  @ApiProperty({ example: 'SPA-7QH2-M4' })
  code: string;
  @ApiProperty({ example: 'quillon-alpine-spa' })
  perk_id: string;
  @ApiProperty({ example: 'customer-4711' })
  customer_id: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-03T09:12:44.218Z' })
  allocated_at: string;
}
