import { applyDecorators, Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  ApiDeleteStored,
  ApiGetStored,
  ApiPage,
  ApiProblems,
  ApiPutStored,
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
  @ApiOperation({ summary: 'All categories' })
  @ApiSearch('the id or name')
  @ApiPage(CategoryResource, 'By id')
  listStoredCategories(@Query() query: ListQuery): Promise<Page<CategoryResource>> {
    return this.categories.list(query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'A category' })
  @ApiCategoryId()
  @ApiGetStored(CategoryResource, 'CATEGORY_NOT_FOUND')
  // As text: made a number by Nest, 1e1 would be 10.
  async getStoredCategory(@Param('id') id: string): Promise<CategoryResource> {
    return this.categories.get(requireCategoryId(id));
  }

  @Put(':id')
  @ApiOperation({ summary: 'Makes or replaces a category' })
  @ApiCategoryId()
  @ApiPutStored(CategoryResource)
  async putCategory(
    @Param('id') id: string,
    @Body() body: PutCategoryDto,
    @IfMatch() ifMatch?: string,
  ): Promise<CategoryResource> {
    return this.categories.put(requireCategoryId(id), body, ifMatch);
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Deletes a category that no perk has' })
  @ApiCategoryId()
  @ApiDeleteStored('CATEGORY_NOT_FOUND', { inUse: true })
  async deleteCategory(@Param('id') id: string, @IfMatch() ifMatch?: string): Promise<void> {
    return this.categories.delete(requireCategoryId(id), ifMatch);
  }
}
