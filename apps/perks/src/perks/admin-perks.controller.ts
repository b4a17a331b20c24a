import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  ApiDeleteResource,
  ApiGetResource,
  ApiIds,
  ApiPage,
  ApiPutResource,
  ApiSearch,
  CallerIdPipe,
  IfMatch,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import { MAX_CATEGORY_ID } from '../categories/category-id.js';
import { PerkResource, PutPerkDto } from './perk.dto.js';
import { PerksService } from './perks.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/perks')
export class AdminPerksController {
  constructor(private readonly perks: PerksService) {}

  @Get()
  @ApiOperation({ summary: 'List all perks' })
  @ApiSearch('the id or title')
  @ApiIds()
  @ApiQuery({
    name: 'category_id',
    required: false,
    description: 'Only perks of this category',
    schema: { type: 'integer', minimum: 1, maximum: MAX_CATEGORY_ID },
  })
  @ApiPage(PerkResource, 'Sorted by id')
  listStoredPerks(@Query() query: ListQuery): Promise<Page<PerkResource>> {
    return this.perks.list(query);
  }

  @Get(':perkId')
  @ApiOperation({ summary: 'Get a perk with all its texts' })
  @ApiGetResource(PerkResource, 'PERK_NOT_FOUND')
  getStoredPerk(@Param('perkId', CallerIdPipe) perkId: string): Promise<PerkResource> {
    return this.perks.get(perkId);
  }

  @Put(':perkId')
  @ApiOperation({
    summary: 'Create or replace a perk; collections that contain it show the change within seconds',
  })
  @ApiPutResource(PerkResource)
  async putPerk(
    @Param('perkId', CallerIdPipe) perkId: string,
    @Body() body: PutPerkDto,
    @IfMatch() ifMatch?: string,
  ): Promise<PerkResource> {
    return this.perks.put(perkId, body, ifMatch);
  }

  @Delete(':perkId')
  @ApiOperation({
    summary: 'Delete a perk that no collection contains',
    description:
      'Campaigns that name it continue without it. Its free single-use codes are deleted; customers keep theirs.',
  })
  @ApiDeleteResource('PERK_NOT_FOUND', { inUse: true })
  deletePerk(@Param('perkId', CallerIdPipe) perkId: string, @IfMatch() ifMatch?: string): Promise<void> {
    return this.perks.delete(perkId, ifMatch);
  }
}
