import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { CategoriesService } from './categories.service.js';
import { MAX_CATEGORY_ID, requireCategoryId } from './category-id.js';
import { CategoryResource, PutCategoryDto } from './category.dto.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/categories')
export class AdminCategoriesController {
  constructor(private readonly categories: CategoriesService) {}

  @Put(':id')
  @ApiOperation({ summary: 'Makes or replaces a category' })
  @ApiParam({ name: 'id', schema: { type: 'integer', minimum: 1, maximum: MAX_CATEGORY_ID } })
  @ApiResponse({ status: 200, description: 'The category as it is stored', type: CategoryResource })
  async putCategory(
    // As text: made a number by Nest, 1e1 would be 10.
    @Param('id') id: string,
    @Body() body: PutCategoryDto,
  ): Promise<CategoryResource> {
    return this.categories.put(requireCategoryId(id), body);
  }
}
