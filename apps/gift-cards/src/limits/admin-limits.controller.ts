import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  ApiDeleteResource,
  ApiGetResource,
  ApiOwner,
  ApiPage,
  ApiProblems,
  ApiPutResource,
  ApiSearch,
  CallerIdPipe,
  IfMatch,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import { ApiLimitUsage, LimitResource, PutLimit, type LimitUsage } from './limit.dto.js';
import { LimitsService } from './limits.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/limits')
export class AdminLimitsController {
  constructor(private readonly limits: LimitsService) {}

  @Get()
  @ApiOperation({ summary: 'List the limits of all accounts' })
  @ApiSearch('the id')
  @ApiOwner()
  @ApiPage(LimitResource, 'Ordered by id')
  listStoredLimits(@Query() query: ListQuery): Promise<Page<LimitResource>> {
    return this.limits.listStored(query);
  }

  @Get(':limitId')
  @ApiOperation({ summary: 'Get a limit of any account' })
  @ApiGetResource(LimitResource, 'LIMIT_NOT_FOUND')
  getStoredLimit(@Param('limitId', CallerIdPipe) limitId: string): Promise<LimitResource> {
    return this.limits.getStored(limitId);
  }

  @Get(':limitId/usage')
  @ApiLimitUsage('Get the usage of a limit of any account in the current period')
  getStoredLimitUsage(
    @Param('limitId', CallerIdPipe) limitId: string,
    @Query() query: ListQuery,
  ): Promise<LimitUsage> {
    return this.limits.storedUsage(limitId, query['value']);
  }

  @Put(':limitId')
  @ApiOperation({
    summary: 'Create or replace a limit',
    description: 'A new limit also counts the links that were created earlier in its current period.',
  })
  @ApiPutResource(LimitResource)
  @ApiProblems('TOO_MANY_LIMITS')
  putLimit(
    @Param('limitId', CallerIdPipe) limitId: string,
    @Body() body: PutLimit,
    @IfMatch() ifMatch?: string,
  ): Promise<LimitResource> {
    return this.limits.put(limitId, body, ifMatch);
  }

  @Delete(':limitId')
  @ApiOperation({ summary: 'Delete a limit' })
  @ApiDeleteResource('LIMIT_NOT_FOUND')
  deleteLimit(@Param('limitId', CallerIdPipe) limitId: string, @IfMatch() ifMatch?: string): Promise<void> {
    return this.limits.delete(limitId, ifMatch);
  }
}
