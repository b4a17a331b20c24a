import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsText } from '@perkway/platform';

const MAX_NAME = 100;
const MAX_QUESTION = 2_000;
const EXAMPLE = 'cube=incentive_clicks&measures=count_people&dimensions=perk_title&steps=week&dates=90';

@ApiSchema({ name: 'SaveQuestion' })
export class SaveQuestionDto {
  @ApiProperty({ example: 'Clicks of each perk by week' })
  @IsText(1, MAX_NAME)
  name: string;
  @ApiProperty({ description: 'The query string of Explore, without `?`', example: EXAMPLE })
  @IsText(1, MAX_QUESTION)
  question: string;
}

@ApiSchema({ name: 'SavedQuestion' })
export class SavedQuestionDto {
  @ApiProperty({ format: 'uuid', example: '0b0cdd5e-58b1-4f0c-9d9b-0d6a5fbb5a3c' })
  id: string;
  @ApiProperty({ example: 'Clicks of each perk by week' })
  name: string;
  @ApiProperty({ example: EXAMPLE })
  question: string;
  @ApiProperty({ description: 'Who saved it last', example: 'ann@ostervale.example' })
  saved_by: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-20T16:02:00.000Z' })
  saved_at: string;
}
