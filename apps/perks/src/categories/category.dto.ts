import { CALLER_ID_PATTERN } from '@perkway/domain';
import { IsCallerId, IsText } from '@perkway/platform';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { IsTranslations } from '../text/validators.js';
import type { CategoryTranslations } from './category.entity.js';

const MAX_NAME = 200;

export class PutCategoryDto {
  @ApiProperty({
    description: 'Stable text id, unique among categories',
    pattern: CALLER_ID_PATTERN,
    example: 'travel',
  })
  @IsCallerId()
  slug: string;

  @ApiProperty({ minLength: 1, maxLength: MAX_NAME, example: 'Travel & Stays' })
  @IsText(1, MAX_NAME)
  name: string;

  @ApiPropertyOptional({
    description: 'Names by language tag',
    type: 'object',
    additionalProperties: { type: 'object', properties: { name: { type: 'string' } } },
    example: { fr: { name: 'Voyages et séjours' } },
  })
  @IsOptional()
  @IsTranslations({ name: MAX_NAME })
  translations?: CategoryTranslations | null;
}

/** A category as it is stored. */
export class CategoryResource {
  @ApiProperty({ type: 'integer', example: 1 })
  id: number;
  @ApiProperty({ example: 'travel' })
  slug: string;
  @ApiProperty({ example: 'Travel & Stays' })
  name: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'object', properties: { name: { type: 'string' } } },
    example: { fr: { name: 'Voyages et séjours' } },
  })
  translations: CategoryTranslations;
}
