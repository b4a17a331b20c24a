import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

export class RowReport {
  @ApiProperty({
    type: 'integer',
    example: 17,
    description: 'From 1; blank lines and the CSV header are no rows',
  })
  row!: number;
  @ApiProperty({ example: 'CURRENCY_INVALID' })
  reason!: string;
}

export class LoadResult {
  @ApiProperty({ type: 'integer', example: 99_998 })
  imported!: number;
  @ApiProperty({
    type: 'integer',
    example: 1,
    description: 'Codes that are in this file twice, or were loaded before, into whatever pool',
  })
  duplicates!: number;
  @ApiProperty({ type: [RowReport], description: 'At most the first 1,000' })
  rejected!: RowReport[];
  @ApiPropertyOptional({
    type: 'integer',
    example: 2_500,
    description: 'Present when `rejected` does not hold all',
  })
  rejected_total?: number;
}

export class LoadSummary {
  @ApiProperty({ format: 'uuid', example: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c' })
  id!: string;
  @ApiProperty({
    enum: ['running', 'stalled', 'finished', 'failed'],
    description:
      '`stalled`: no batch was written for 30 s (a batch is 2,000 rows, or the last ones). `failed`: the connection was cut or the file could not be read on. What was imported stays; sending the file again loads the rest.',
  })
  state!: 'running' | 'stalled' | 'finished' | 'failed';
  @ApiProperty({ format: 'date-time', example: '2026-11-03T09:12:44.218Z' })
  started_at!: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-03T09:12:51.004Z' })
  updated_at!: string;
  @ApiProperty({ type: 'integer', example: 40_000, description: 'Rows dealt with so far' })
  rows!: number;
  @ApiProperty({ type: 'integer', example: 39_990 })
  imported!: number;
  @ApiProperty({ type: 'integer', example: 8 })
  duplicates!: number;
  @ApiProperty({ type: 'integer', example: 2 })
  rejected!: number;
}

export class LoadReport extends LoadSummary {
  @ApiProperty({ type: [RowReport], description: 'At most the first 1,000' })
  rejected_rows!: RowReport[];
  @ApiProperty({ type: [RowReport], description: 'At most the first 1,000' })
  duplicate_rows!: RowReport[];
}
