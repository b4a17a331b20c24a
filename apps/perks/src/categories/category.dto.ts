import { IsText } from '@perkway/platform';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { IsTranslations } from '../text/validators.js';
import type { CategoryTranslations } from './category.entity.js';

export const SLUG = /^[A-Za-z0-9._-]{1,100}$/;
const MAX_NAME = 200;

export class PutCategoryDto {
  @ApiProperty({
    description: 'Stable text id, unique among categories',
    pattern: SLUG.source,
    example: 'travel',
  })
  @Matches(SLUG, { message: '$property must have 1 to 100 characters of A-Z a-z 0-9 . _ -' })
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
