import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { LEAST_DAYS, LEAST_USED, LOW_STOCK, LOW_STOCK_DAYS } from '@perkway/domain';

/** When stock is low, in the API's descriptions. */
export const LOW = `fewer than ${LOW_STOCK} are available, or which last fewer than ${LOW_STOCK_DAYS} days`;

class StockDto {
  @ApiProperty({ type: 'integer', example: 12 })
  available: number;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: `Days until the stock runs out, at the rate of the last 30 days, or since the first load of the card value or the creation of the perk, if later. Cards of links that ended unrevealed do not count as used. Null if fewer than ${LEAST_USED} were used, or if the rate covers fewer than ${LEAST_DAYS} days`,
    example: 6,
  })
  days_left: number | null;
  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'Used per day, at the rate that `days_left` assumes. Null if none was used',
    example: 1.7,
  })
  per_day: number | null;
}

@ApiSchema({ name: 'CardStock' })
export class CardStockDto extends StockDto {
  @ApiProperty({ format: 'uuid', example: '5f0f7d5e-3f5f-4d0c-9a3e-0b6f2f2f5a10' })
  pool_id: string;
  @ApiProperty({ example: 'ostervale-bank' })
  account_id: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the pool’s product',
    example: 'Fernway voucher',
  })
  product: string | null;
  @ApiProperty({ example: 25 })
  denomination: number;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiProperty({ example: 'FR' })
  country: string;
}

@ApiSchema({ name: 'CodeStock' })
export class CodeStockDto extends StockDto {
  @ApiProperty({ example: 'fernway-summer' })
  perk_id: string;
  @ApiProperty({ example: 'Fernway: 10 % off' })
  title: string;
}
