import {
  ApiTranslations,
  IsCallerId,
  IsOmittable,
  IsText,
  IsTranslations,
  ReadBack,
  ResourceTimes,
} from '@perkway/platform';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { CategoryTranslations } from './category.entity.js';

const MAX_NAME = 200;

@ReadBack()
@ApiSchema({ name: 'PutCategory' })
export class PutCategoryDto {
  @ApiProperty({
    description: 'Stable text id, unique among categories',
    example: 'travel',
  })
  @IsCallerId()
  slug: string;

  @ApiProperty({ example: 'Travel & Stays' })
  @IsText(1, MAX_NAME)
  name: string;

  @ApiProperty({ example: { fr: { name: 'Voyages et séjours' } } })
  @IsOmittable()
  @IsTranslations({ name: MAX_NAME })
  translations?: CategoryTranslations | null;
}

/** A stored category. */
@ApiSchema({ name: 'StoredCategory' })
export class CategoryResource extends ResourceTimes {
  @ApiProperty({ type: 'integer', example: 1 })
  id: number;
  @ApiProperty({ example: 'travel' })
  slug: string;
  @ApiProperty({ example: 'Travel & Stays' })
  name: string;
  @ApiProperty({ example: { fr: { name: 'Voyages et séjours' } } })
  @ApiTranslations({ name: MAX_NAME })
  translations: CategoryTranslations;
}
