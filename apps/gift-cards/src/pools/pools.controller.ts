import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { CurrentCaller } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import { ApiPlainErrors } from '@perkway/platform';
import { Pool } from './pool.dto.js';
import { PoolsService } from './pools.service.js';

@ApiTags('Pools')
@ApiSecurity('apiKey')
@Controller()
export class PoolsController {
  constructor(private readonly pools: PoolsService) {}

  @Get('pools')
  @Header('cache-control', 'no-store')
  @ApiOperation({ operationId: 'getGiftCardPools', summary: 'The pools of the account, with their numbers' })
  @ApiOkResponse({ type: [Pool] })
  @ApiPlainErrors('API_KEY_INVALID', 'TOO_MANY_REQUESTS', 'DEPENDENCY_UNAVAILABLE')
  list(@CurrentCaller() caller: Caller): Promise<Pool[]> {
    return this.pools.list(caller);
  }

  @Get('pool/:poolId')
  @Header('cache-control', 'no-store')
  @ApiOperation({ operationId: 'getGiftCardPool', summary: 'One pool, with its numbers' })
  @ApiParam({ name: 'poolId', format: 'uuid' })
  @ApiOkResponse({ type: Pool })
  @ApiPlainErrors('API_KEY_INVALID', 'POOL_NOT_FOUND', 'TOO_MANY_REQUESTS', 'DEPENDENCY_UNAVAILABLE')
  get(@CurrentCaller() caller: Caller, @Param('poolId') poolId: string): Promise<Pool> {
    return this.pools.get(caller, poolId);
  }
}
