import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { ApiProblems } from '@perkway/platform';
import { CategoriesService } from './categories.service.js';
import { requireCategoryId } from './category-id.js';
import { CategoryResource, PutCategoryDto } from './category.dto.js';

@ApiTags('Management')
@ApiSecurity('apiKey')
@Roles('ADMIN')
@Controller('admin/categories')
export class AdminCategoriesController {
  constructor(private readonly categories: CategoriesService) {}

  @Put(':id')
  @ApiOperation({ operationId: 'putCategory', summary: 'Makes or replaces a category' })
  @ApiParam({ name: 'id', schema: { type: 'integer', minimum: 1, maximum: 2_147_483_647 }, example: 1 })
  @ApiResponse({ status: 200, description: 'The category as it is stored', type: CategoryResource })
  @ApiProblems(
    'VALIDATION_FAILED',
    'API_KEY_INVALID',
    'FORBIDDEN',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  async putCategory(
    // As text: made a number by Nest, 1e1 would be 10.
    @Param('id') id: string,
    @Body() body: PutCategoryDto,
  ): Promise<CategoryResource> {
    return this.categories.put(requireCategoryId(id), body);
  }
}
