import { ApiProperty } from '@nestjs/swagger';
import { IsCallerId, IsOmittable, ReadBack, type Times } from '@perkway/platform';
import { Type } from 'class-transformer';
import { IsObject, ValidateNested } from 'class-validator';
import { Product, PutProduct } from './product.dto.js';

/** One denomination, currency and country of a pool (specification section 2). */
export class Inventory {
  @ApiProperty({ example: 25 })
  denomination: number;
  @ApiProperty({ example: 'EUR', description: 'ISO 4217' })
  currency: string;
  @ApiProperty({ example: 'FR', description: 'ISO 3166-1 alpha-2' })
  country: string;
  @ApiProperty({
    type: 'integer',
    example: 812,
    description: 'Cards that a new link can reserve, including cards whose link expired or was cancelled',
  })
  available: number;
  @ApiProperty({ type: 'integer', example: 140, description: 'Cards on links that can still be revealed' })
  reserved: number;
  @ApiProperty({ type: 'integer', example: 48, description: 'Revealed' })
  redeemed: number;
  @ApiProperty({
    type: 'integer',
    example: 0,
    description: 'Withdrawn cards, which are never given out again',
  })
  withdrawn: number;
  @ApiProperty({ type: 'integer', example: 0, description: 'Unrevealed cards past their `valid_until`' })
  lapsed: number;
}

/** A gift-card pool (specification section 2). */
export class Pool {
  @ApiProperty({ format: 'uuid', example: '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10' })
  id: string;
  @ApiProperty({ example: 'harbour-bank', description: 'The owning account' })
  owner: string;
  @ApiProperty({ type: Product, nullable: true, description: 'What the cards can buy' })
  product: Product | null;
  @ApiProperty({ type: [Inventory] })
  inventories: Inventory[];
}

@ReadBack()
export class PutPool {
  @ApiProperty({ example: 'harbour-bank', description: 'Must be an existing account' })
  @IsCallerId()
  owner: string;

  @ApiProperty({
    type: PutProduct,
    description: 'What the cards can buy. Omit it if the pool has no product',
  })
  @IsOmittable()
  @IsObject()
  @ValidateNested()
  @Type(() => PutProduct)
  product?: PutProduct | null;
}

/** A pool in the management API. */
export class StoredPool extends Pool implements Times {
  @ApiProperty({ format: 'date-time', example: '2026-11-05T09:30:00.000Z' })
  created_at: string;
  @ApiProperty({
    format: 'date-time',
    description: 'Time of the last change to the settings. Changes to the card counts do not affect it',
    example: '2026-11-05T09:30:00.000Z',
  })
  updated_at: string;
}
