import { applyDecorators, Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  ApiDeleteResource,
  ApiGetResource,
  ApiPage,
  ApiProblems,
  ApiPutResource,
  ApiSearch,
  IfMatch,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import { CategoriesService } from './categories.service.js';
import { MAX_CATEGORY_ID, requireCategoryId } from './category-id.js';
import { CategoryResource, PutCategoryDto } from './category.dto.js';

const ApiCategoryId = () =>
  applyDecorators(
    ApiParam({ name: 'id', schema: { type: 'integer', minimum: 1, maximum: MAX_CATEGORY_ID } }),
    ApiProblems('VALIDATION_FAILED'),
  );

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/categories')
export class AdminCategoriesController {
  constructor(private readonly categories: CategoriesService) {}

  @Get()
  @ApiOperation({ summary: 'List all categories' })
  @ApiSearch('the id or name')
  @ApiPage(CategoryResource, 'Sorted by id')
  listStoredCategories(@Query() query: ListQuery): Promise<Page<CategoryResource>> {
    return this.categories.list(query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Get a category' })
  @ApiCategoryId()
  @ApiGetResource(CategoryResource, 'CATEGORY_NOT_FOUND')
  // A string, because Nest would parse 1e1 as 10.
  async getStoredCategory(@Param('id') id: string): Promise<CategoryResource> {
    return this.categories.get(requireCategoryId(id));
  }

  @Put(':id')
  @ApiOperation({ summary: 'Create or replace a category' })
  @ApiCategoryId()
  @ApiPutResource(CategoryResource)
  async putCategory(
    @Param('id') id: string,
    @Body() body: PutCategoryDto,
    @IfMatch() ifMatch?: string,
  ): Promise<CategoryResource> {
    return this.categories.put(requireCategoryId(id), body, ifMatch);
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a category that no perk uses' })
  @ApiCategoryId()
  @ApiDeleteResource('CATEGORY_NOT_FOUND', { inUse: true })
  async deleteCategory(@Param('id') id: string, @IfMatch() ifMatch?: string): Promise<void> {
    return this.categories.delete(requireCategoryId(id), ifMatch);
  }
}
