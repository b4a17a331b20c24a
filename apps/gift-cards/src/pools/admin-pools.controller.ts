import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  ApiDeleteStored,
  ApiGetStored,
  ApiOwner,
  ApiPage,
  ApiPutStored,
  ApiSearch,
  IfMatch,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import { PutPool, StoredPool } from './pool.dto.js';
import { PoolManagementService } from './pool-management.service.js';

const ApiPoolId = () => ApiParam({ name: 'poolId', format: 'uuid' });

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/pools')
export class AdminPoolsController {
  constructor(private readonly pools: PoolManagementService) {}

  @Get()
  @ApiOperation({ summary: 'The pools of all accounts, with their numbers' })
  @ApiSearch('the id')
  @ApiOwner()
  @ApiPage(StoredPool, 'By id')
  listStoredGiftCardPools(@Query() query: ListQuery): Promise<Page<StoredPool>> {
    return this.pools.list(query);
  }

  @Get(':poolId')
  @ApiOperation({ summary: 'A pool of any account, with its numbers' })
  @ApiPoolId()
  @ApiGetStored(StoredPool, 'POOL_NOT_FOUND')
  getStoredGiftCardPool(@Param('poolId') poolId: string): Promise<StoredPool> {
    return this.pools.get(poolId);
  }

  @Put(':poolId')
  @ApiOperation({
    summary: 'Make a pool or replace its settings; another owner takes it over',
    description:
      'Another owner takes over the pool with all its cards. Links that were given out go on working and stay with the account that made them.',
  })
  @ApiPoolId()
  @ApiPutStored(StoredPool)
  putGiftCardPool(
    @Param('poolId') poolId: string,
    @Body() body: PutPool,
    @IfMatch() ifMatch?: string,
  ): Promise<StoredPool> {
    return this.pools.put(poolId, body, ifMatch);
  }

  @Delete(':poolId')
  @ApiOperation({ summary: 'Deletes a pool that has never had cards' })
  @ApiPoolId()
  @ApiDeleteStored('POOL_NOT_FOUND', { inUse: true })
  deleteGiftCardPool(@Param('poolId') poolId: string, @IfMatch() ifMatch?: string): Promise<void> {
    return this.pools.delete(poolId, ifMatch);
  }
}
