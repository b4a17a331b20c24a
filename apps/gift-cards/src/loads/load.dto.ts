import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { Inventory } from '../pools/pool.dto.js';

/** Maximum number of rows of one kind that a report lists. */
export const MAX_REPORTED = 1_000;

export class RowReport {
  @ApiProperty({
    type: 'integer',
    example: 17,
    description: 'Counted from 1, without blank lines and the CSV header',
  })
  row: number;
  @ApiProperty({ example: 'CURRENCY_INVALID' })
  reason: string;
}

export class LoadResult {
  @ApiProperty({ format: 'uuid', example: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c' })
  load_id: string;
  @ApiProperty({ type: 'integer', example: 99_998 })
  imported: number;
  @ApiProperty({
    type: 'integer',
    example: 1,
    description: 'Rows whose code appears earlier in this file, or was loaded before into any pool',
  })
  duplicates: number;
  @ApiProperty({ type: [RowReport], description: 'The first 1,000 at most' })
  rejected: RowReport[];
  @ApiPropertyOptional({
    type: 'integer',
    example: 2_500,
    description: 'Present if `rejected` does not list all rejected rows',
  })
  rejected_total?: number;
}

export class LoadSummary {
  @ApiProperty({ format: 'uuid', example: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c' })
  id: string;
  @ApiProperty({ type: String, nullable: true, example: 'cards-2026-11.csv' })
  file_name: string | null;
  @ApiProperty({
    enum: ['running', 'stalled', 'finished', 'failed'],
    description:
      '`stalled`: no batch was written for 30 s (a batch is 2,000 rows, the last one may be smaller). `failed`: the connection was cut or the file could not be read to its end. Imported cards stay; send the file again to load the rest.',
  })
  state: 'running' | 'stalled' | 'finished' | 'failed';
  @ApiProperty({ format: 'date-time', example: '2026-11-03T09:12:44.218Z' })
  started_at: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-03T09:12:51.004Z' })
  updated_at: string;
  @ApiProperty({ type: 'integer', example: 40_000, description: 'Rows processed so far' })
  rows: number;
  @ApiProperty({ type: 'integer', example: 39_990 })
  imported: number;
  @ApiProperty({ type: 'integer', example: 8 })
  duplicates: number;
  @ApiProperty({ type: 'integer', example: 2 })
  rejected: number;
}

export class LoadReport extends LoadSummary {
  @ApiProperty({ type: [RowReport], description: 'The first 1,000 at most' })
  rejected_rows: RowReport[];
  @ApiProperty({ type: [RowReport], description: 'The first 1,000 at most' })
  duplicate_rows: RowReport[];
}

export class CheckedValue extends PickType(Inventory, ['denomination', 'currency', 'country']) {
  @ApiProperty({ type: String, format: 'date', nullable: true, example: null })
  valid_until: string | null;
  @ApiProperty({ type: 'integer', example: 99_998 })
  cards: number;
}

export class LoadCheck {
  @ApiProperty({ type: 'integer', example: 100_000 })
  rows: number;
  @ApiProperty({ type: 'integer', example: 99_998, description: 'Cards that a load would import' })
  importable: number;
  @ApiProperty({
    type: 'integer',
    example: 1,
    description: 'Rows whose code appears earlier in this file, or was loaded before into any pool',
  })
  duplicates: number;
  @ApiProperty({ type: 'integer', example: 1 })
  rejected: number;
  @ApiProperty({ type: [RowReport], description: 'The first 1,000 at most' })
  rejected_rows: RowReport[];
  @ApiProperty({ type: [RowReport], description: 'The first 1,000 at most' })
  duplicate_rows: RowReport[];
  @ApiProperty({ example: true, description: 'False if only the first 100,000 rows were checked' })
  complete: boolean;
  @ApiProperty({
    type: [CheckedValue],
    description: 'The importable cards by value; the first 1,000 at most',
  })
  values: CheckedValue[];
}
