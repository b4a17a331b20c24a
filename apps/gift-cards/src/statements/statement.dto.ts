import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'StatementFigure' })
export class StatementFigure {
  @ApiProperty({ type: 'integer', example: 400 })
  cards: number;

  @ApiProperty({ type: Number, description: 'The cards times their denomination', example: 10000 })
  amount: number;
}

const Figure = (description: string) => ApiProperty({ description, type: StatementFigure });

@ApiSchema({ name: 'StatementRow' })
export class StatementRow {
  @ApiProperty({ format: 'uuid', example: '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10' })
  pool_id: string;

  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiProperty({ example: 'FR' })
  country: string;

  @ApiProperty({ type: Number, example: 25 })
  denomination: number;

  @Figure('Cards in the pool when the month began, as in `closing` of the previous month')
  opening: StatementFigure;

  @Figure(
    'Cards loaded. If the pool moves to another account, its cards count as loaded there and are subtracted here',
  )
  loaded: StatementFigure;

  @Figure('Cards that recipients revealed')
  revealed: StatementFigure;

  @Figure('Cards withdrawn from the pool')
  withdrawn: StatementFigure;

  @Figure('opening + loaded - revealed - withdrawn')
  closing: StatementFigure;

  @Figure('Reward links created')
  generated: StatementFigure;

  @Figure('Reward links cancelled')
  cancelled: StatementFigure;

  @Figure('Reward links that expired unrevealed')
  expired: StatementFigure;

  @Figure('Reward links that could still be revealed at the end of the month, or can be now')
  outstanding: StatementFigure;
}

@ApiSchema({ name: 'Statement' })
export class Statement {
  @ApiProperty({ example: '2026-10', description: 'In UTC' })
  month: string;

  @ApiProperty({ description: 'The month is over, and its figures never change', example: true })
  closed: boolean;

  @ApiProperty({ type: [StatementRow], description: 'By pool, currency, country and denomination' })
  rows: StatementRow[];
}
