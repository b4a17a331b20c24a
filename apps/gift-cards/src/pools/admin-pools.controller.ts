import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { ApiPlainErrors } from '@perkway/platform';
import { Pool, PutPool } from './pool.dto.js';
import { PoolsService } from './pools.service.js';

@ApiTags('Management')
@ApiSecurity('apiKey')
@Roles('ADMIN')
@Controller('admin/pools')
export class AdminPoolsController {
  constructor(private readonly pools: PoolsService) {}

  @Put(':poolId')
  @ApiOperation({
    operationId: 'putGiftCardPool',
    summary: 'Make a pool, or give it to another account',
    description:
      'Another owner takes over the pool with all its cards. Links that were given out go on working and stay with the account that made them.',
  })
  @ApiParam({ name: 'poolId', format: 'uuid' })
  @ApiOkResponse({ type: Pool })
  @ApiPlainErrors(
    'VALIDATION_FAILED',
    'API_KEY_INVALID',
    'FORBIDDEN',
    'UNSUPPORTED_MEDIA_TYPE',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  put(@Param('poolId') poolId: string, @Body() { owner }: PutPool): Promise<Pool> {
    return this.pools.put(poolId, owner);
  }
}
