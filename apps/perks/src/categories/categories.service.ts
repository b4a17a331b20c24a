import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { inUse, invalidField } from '@perkway/domain';
import {
  cleanTranslations,
  listResources,
  KeysetPaginator,
  upsertResource,
  requireDeletable,
  requireFound,
  timesOf,
  type ListQuery,
  type Page,
  type Settings,
} from '@perkway/platform';
import { DataSource, Repository } from 'typeorm';
import { CatalogWriter } from '../catalog/catalog-writer.js';
import { touchCollections } from '../catalog/touch-collections.js';
import type { CategoryResource, PutCategoryDto } from './category.dto.js';
import { CategoryEntity } from './category.entity.js';

const toResource = (category: CategoryEntity): CategoryResource => ({ ...category, ...timesOf(category) });

/** Manages categories, which all accounts share. */
@Injectable()
export class CategoriesService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(CategoryEntity) private readonly categories: Repository<CategoryEntity>,
    private readonly writer: CatalogWriter,
    private readonly pages: KeysetPaginator,
  ) {}

  /** Returns a page sorted by id. @throws ApiError VALIDATION_FAILED */
  list(query: ListQuery): Promise<Page<CategoryResource>> {
    return listResources<CategoryEntity, CategoryResource>(this.dataSource, this.pages, query, {
      name: 'categories',
      select: 'select * from categories',
      search: ['id::text', 'name'],
      toItem: toResource,
    });
  }

  /** @throws ApiError CATEGORY_NOT_FOUND */
  async get(id: number): Promise<CategoryResource> {
    return requireFound(await this.find(this.categories, id), 'CATEGORY_NOT_FOUND');
  }

  /**
   * Creates or replaces a category.
   * @throws ApiError PRECONDITION_FAILED; VALIDATION_FAILED if another category has the slug
   */
  put(id: number, body: PutCategoryDto, ifMatch?: string): Promise<CategoryResource> {
    const { slug, name } = body;
    const wanted: Settings<CategoryResource> = {
      id,
      slug,
      name,
      translations: cleanTranslations(body.translations, ['name']),
    };
    return this.writer.write((manager) => {
      const categories = manager.getRepository(CategoryEntity);
      return upsertResource<CategoryResource>(
        ifMatch,
        wanted,
        () => this.find(categories, id),
        async (times) => {
          const other = await categories.findOneBy({ slug });
          if (other && other.id !== id) throw invalidField('slug', `is already used by category ${other.id}`);
          await categories.upsert({ ...wanted, ...times }, ['id']);
          await touchCollections(
            manager,
            'id in (select gp.collection_id from group_perks gp join perk_categories pc using (perk_id) where pc.category_id = $1)',
            [id],
          );
        },
      );
    });
  }

  /** @throws ApiError CATEGORY_NOT_FOUND, PRECONDITION_FAILED; IN_USE naming the perks that have it */
  delete(id: number, ifMatch?: string): Promise<void> {
    return this.writer.write(async (manager) => {
      const categories = manager.getRepository(CategoryEntity);
      requireDeletable(ifMatch, await this.find(categories, id), 'CATEGORY_NOT_FOUND');
      const users = await manager.query<{ perk_id: string }[]>(
        'select perk_id from perk_categories where category_id = $1 order by perk_id',
        [id],
      );
      if (users.length > 0)
        throw inUse(
          'the perks',
          users.map(({ perk_id }) => perk_id),
        );
      await categories.delete(id);
    });
  }

  private async find(
    categories: Repository<CategoryEntity>,
    id: number,
  ): Promise<CategoryResource | undefined> {
    const category = await categories.findOneBy({ id });
    return category ? toResource(category) : undefined;
  }
}
