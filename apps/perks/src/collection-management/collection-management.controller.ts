import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  ApiDeleteResource,
  ApiGetResource,
  ApiOwner,
  ApiPage,
  ApiPerk,
  ApiPutResource,
  ApiSearch,
  CallerIdPipe,
  IfMatch,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import { CollectionResource, PutCollectionDto } from './collection.dto.js';
import { CollectionManagementService } from './collection-management.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/perk-collections')
export class CollectionManagementController {
  constructor(private readonly collections: CollectionManagementService) {}

  @Get()
  @ApiOperation({ summary: 'List the collections of all accounts' })
  @ApiSearch('the id')
  @ApiOwner()
  @ApiPerk()
  @ApiPage(CollectionResource, 'Sorted by id')
  listStoredPerkCollections(@Query() query: ListQuery): Promise<Page<CollectionResource>> {
    return this.collections.list(query);
  }

  @Get(':collectionId')
  @ApiOperation({ summary: 'Get a collection with the ids of its perks' })
  @ApiGetResource(CollectionResource, 'COLLECTION_NOT_FOUND')
  getStoredPerkCollection(
    @Param('collectionId', CallerIdPipe) collectionId: string,
  ): Promise<CollectionResource> {
    return this.collections.get(collectionId);
  }

  @Put(':collectionId')
  @ApiOperation({
    summary: 'Create or replace a whole collection; every replica shows the change within seconds',
  })
  @ApiPutResource(CollectionResource)
  async putPerkCollection(
    @Param('collectionId', CallerIdPipe) collectionId: string,
    @Body() body: PutCollectionDto,
    @IfMatch() ifMatch?: string,
  ): Promise<CollectionResource> {
    return this.collections.put(collectionId, body, ifMatch);
  }

  @Delete(':collectionId')
  @ApiOperation({ summary: 'Delete a collection, but not its perks' })
  @ApiDeleteResource('COLLECTION_NOT_FOUND')
  deletePerkCollection(
    @Param('collectionId', CallerIdPipe) collectionId: string,
    @IfMatch() ifMatch?: string,
  ): Promise<void> {
    return this.collections.delete(collectionId, ifMatch);
  }
}
