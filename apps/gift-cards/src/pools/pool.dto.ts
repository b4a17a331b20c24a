import { ApiProperty } from '@nestjs/swagger';
import { IsCallerId } from '@perkway/platform';

/** One denomination, currency and country of a pool (specification section 2). */
export class Inventory {
  @ApiProperty({ example: 25 })
  denomination!: number;
  @ApiProperty({ example: 'EUR', description: 'ISO 4217' })
  currency!: string;
  @ApiProperty({ example: 'FR', description: 'ISO 3166-1 alpha-2' })
  country!: string;
  @ApiProperty({
    type: 'integer',
    example: 812,
    description: 'Free cards, and those whose link expired unrevealed',
  })
  available!: number;
  @ApiProperty({ type: 'integer', example: 140, description: 'On links that may still be revealed' })
  reserved!: number;
  @ApiProperty({ type: 'integer', example: 48, description: 'Revealed' })
  redeemed!: number;
}

/** A gift-card pool (specification section 2). */
export class Pool {
  @ApiProperty({ format: 'uuid', example: '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10' })
  id!: string;
  @ApiProperty({ example: 'harbour-bank', description: 'The owning account' })
  owner!: string;
  @ApiProperty({ type: [Inventory] })
  inventories!: Inventory[];
}

export class PutPool {
  @ApiProperty({ example: 'harbour-bank', description: 'An account that exists' })
  @IsCallerId()
  owner!: string;
}
