import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { CALLER_ID_PATTERN } from '@perkway/domain';
import { ApiProblems, CallerIdPipe } from '@perkway/platform';
import { CollectionResource, PutCollectionDto } from './collection.dto.js';
import { CollectionManagementService } from './collection-management.service.js';

@ApiTags('Management')
@ApiSecurity('apiKey')
@Roles('ADMIN')
@Controller('admin/perk-collections')
export class CollectionManagementController {
  constructor(private readonly collections: CollectionManagementService) {}

  @Put(':collectionId')
  @ApiOperation({
    operationId: 'putPerkCollection',
    summary: 'Makes or replaces a collection as a whole; every replica shows the change within seconds',
  })
  @ApiParam({
    name: 'collectionId',
    schema: { type: 'string', pattern: CALLER_ID_PATTERN },
    example: 'ostervale-travel',
  })
  @ApiResponse({ status: 200, description: 'The collection as it is stored', type: CollectionResource })
  @ApiProblems(
    'VALIDATION_FAILED',
    'API_KEY_INVALID',
    'FORBIDDEN',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  async putPerkCollection(
    @Param('collectionId', CallerIdPipe) collectionId: string,
    @Body() body: PutCollectionDto,
  ): Promise<CollectionResource> {
    return this.collections.put(collectionId, body);
  }
}
