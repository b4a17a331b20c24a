import { Injectable } from '@nestjs/common';
import { invalidField } from '@perkway/domain';
import { isDeepStrictEqual } from 'node:util';
import { CatalogWriter } from '../catalog/catalog-writer.js';
import { touchCollections } from '../catalog/touch-collections.js';
import { cleanTranslations } from '../text/validators.js';
import type { CategoryResource, PutCategoryDto } from './category.dto.js';
import { CategoryEntity } from './category.entity.js';

@Injectable()
export class CategoriesService {
  constructor(private readonly writer: CatalogWriter) {}

  /**
   * Makes or replaces a category. The catalogue is common to all accounts.
   * @throws DomainError VALIDATION_FAILED when another category has the slug
   */
  put(id: number, { slug, name, translations }: PutCategoryDto): Promise<CategoryResource> {
    const wanted: CategoryResource = {
      id,
      slug,
      name,
      translations: cleanTranslations(translations, ['name']),
    };
    return this.writer.write(async (manager) => {
      const categories = manager.getRepository(CategoryEntity);
      const other = await categories.findOneBy({ slug });
      if (other && other.id !== id) throw invalidField('slug', `is that of category ${other.id}`);
      const current = await categories.findOneBy({ id });
      if (current && isDeepStrictEqual({ ...current }, wanted)) return wanted;
      await categories.upsert(wanted, ['id']);
      await touchCollections(
        manager,
        'id in (select gp.collection_id from group_perks gp join perk_categories pc using (perk_id) where pc.category_id = $1)',
        [id],
      );
      return wanted;
    });
  }
}
