import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, RequiredScope } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import { ApiPage, ApiProblems, CallerIdPipe, type ListQuery, type Page } from '@perkway/platform';
import { ApiLimitUsage, LimitResource, type LimitUsage } from './limit.dto.js';
import { LimitsService } from './limits.service.js';

@ApiTags('Limits')
@RequiredScope('links:read')
@Controller('limits')
export class LimitsController {
  constructor(private readonly limits: LimitsService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'List the limits of the account' })
  @ApiPage(LimitResource, 'Ordered by id')
  listLimits(@CurrentCaller() caller: Caller, @Query() query: ListQuery): Promise<Page<LimitResource>> {
    return this.limits.list(caller, query);
  }

  @Get(':limitId')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Get one limit of the account' })
  @ApiResponse({ status: 200, description: 'The limit', type: LimitResource })
  @ApiProblems('LIMIT_NOT_FOUND')
  getLimit(
    @CurrentCaller() caller: Caller,
    @Param('limitId', CallerIdPipe) limitId: string,
  ): Promise<LimitResource> {
    return this.limits.get(caller, limitId);
  }

  @Get(':limitId/usage')
  @ApiLimitUsage('Get the usage of a limit in the current period')
  getLimitUsage(
    @CurrentCaller() caller: Caller,
    @Param('limitId', CallerIdPipe) limitId: string,
    @Query() query: ListQuery,
  ): Promise<LimitUsage> {
    return this.limits.usage(caller, limitId, query['value']);
  }
}
