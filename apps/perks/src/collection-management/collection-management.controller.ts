import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { CallerIdPipe } from '@perkway/platform';
import { CollectionResource, PutCollectionDto } from './collection.dto.js';
import { CollectionManagementService } from './collection-management.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/perk-collections')
export class CollectionManagementController {
  constructor(private readonly collections: CollectionManagementService) {}

  @Put(':collectionId')
  @ApiOperation({
    summary: 'Makes or replaces a collection as a whole; every replica shows the change within seconds',
  })
  @ApiResponse({ status: 200, description: 'The collection as it is stored', type: CollectionResource })
  async putPerkCollection(
    @Param('collectionId', CallerIdPipe) collectionId: string,
    @Body() body: PutCollectionDto,
  ): Promise<CollectionResource> {
    return this.collections.put(collectionId, body);
  }
}
