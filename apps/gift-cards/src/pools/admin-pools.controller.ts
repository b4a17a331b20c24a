import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { Pool, PutPool } from './pool.dto.js';
import { PoolsService } from './pools.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/pools')
export class AdminPoolsController {
  constructor(private readonly pools: PoolsService) {}

  @Put(':poolId')
  @ApiOperation({
    summary: 'Make a pool, or give it to another account',
    description:
      'Another owner takes over the pool with all its cards. Links that were given out go on working and stay with the account that made them.',
  })
  @ApiParam({ name: 'poolId', format: 'uuid' })
  @ApiOkResponse({ description: 'The pool as it is stored', type: Pool })
  putGiftCardPool(@Param('poolId') poolId: string, @Body() { owner }: PutPool): Promise<Pool> {
    return this.pools.put(poolId, owner);
  }
}
