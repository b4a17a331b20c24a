import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, RequiredScope } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import { ApiProblems } from '@perkway/platform';
import { Pool } from './pool.dto.js';
import { PoolsService } from './pools.service.js';

@ApiTags('Pools')
@RequiredScope('pools:read')
@Controller()
export class PoolsController {
  constructor(private readonly pools: PoolsService) {}

  @Get('pools')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'List the pools of the account, with their numbers' })
  @ApiResponse({ status: 200, description: 'Ordered by id', type: [Pool] })
  getGiftCardPools(@CurrentCaller() caller: Caller): Promise<Pool[]> {
    return this.pools.list(caller);
  }

  @Get('pool/:poolId')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Get one pool, with its numbers' })
  @ApiParam({ name: 'poolId', format: 'uuid' })
  @ApiResponse({ status: 200, description: 'The pool', type: Pool })
  @ApiProblems('POOL_NOT_FOUND')
  getGiftCardPool(@CurrentCaller() caller: Caller, @Param('poolId') poolId: string): Promise<Pool> {
    return this.pools.get(caller, poolId);
  }
}
