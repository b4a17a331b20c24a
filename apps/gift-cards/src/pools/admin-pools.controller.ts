import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  ApiDeleteResource,
  ApiGetResource,
  ApiOwner,
  ApiPage,
  ApiPutResource,
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
  @ApiOperation({ summary: 'List the pools of all accounts, with their numbers' })
  @ApiSearch('the id or the name of the product')
  @ApiOwner()
  @ApiPage(StoredPool, 'Ordered by id')
  listStoredGiftCardPools(@Query() query: ListQuery): Promise<Page<StoredPool>> {
    return this.pools.list(query);
  }

  @Get(':poolId')
  @ApiOperation({ summary: 'Get a pool of any account, with its numbers' })
  @ApiPoolId()
  @ApiGetResource(StoredPool, 'POOL_NOT_FOUND')
  getStoredGiftCardPool(@Param('poolId') poolId: string): Promise<StoredPool> {
    return this.pools.get(poolId);
  }

  @Put(':poolId')
  @ApiOperation({
    summary: 'Create a pool or replace its settings, including its owner',
    description:
      'A new owner takes over the pool with all its cards. Links that were already given out keep working and stay with the account that created them.',
  })
  @ApiPoolId()
  @ApiPutResource(StoredPool)
  putGiftCardPool(
    @Param('poolId') poolId: string,
    @Body() body: PutPool,
    @IfMatch() ifMatch?: string,
  ): Promise<StoredPool> {
    return this.pools.put(poolId, body, ifMatch);
  }

  @Delete(':poolId')
  @ApiOperation({ summary: 'Delete a pool that has never had cards' })
  @ApiPoolId()
  @ApiDeleteResource('POOL_NOT_FOUND', { inUse: true })
  deleteGiftCardPool(@Param('poolId') poolId: string, @IfMatch() ifMatch?: string): Promise<void> {
    return this.pools.delete(poolId, ifMatch);
  }
}
