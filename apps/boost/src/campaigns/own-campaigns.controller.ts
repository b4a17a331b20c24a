import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { AllowQueryKey, CurrentCaller, RequiredScope } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import { ApiPage, ApiProblems, CallerIdPipe, type ListQuery, type Page } from '@perkway/platform';
import { OwnCampaignResource } from './campaign.dto.js';
import { OwnCampaignsService } from './own-campaigns.service.js';

@ApiTags('Campaigns')
@AllowQueryKey()
@RequiredScope('journeys:write')
@Controller('campaigns')
export class OwnCampaignsController {
  constructor(private readonly campaigns: OwnCampaignsService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'List the campaigns of the account' })
  @ApiPage(OwnCampaignResource, 'Ordered by id')
  listCampaigns(
    @CurrentCaller() caller: Caller,
    @Query() query: ListQuery,
  ): Promise<Page<OwnCampaignResource>> {
    return this.campaigns.list(caller, query);
  }

  @Get(':campaignId')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Get one campaign of the account' })
  @ApiResponse({ status: 200, description: 'The campaign', type: OwnCampaignResource })
  @ApiProblems('CAMPAIGN_NOT_FOUND')
  getCampaign(
    @CurrentCaller() caller: Caller,
    @Param('campaignId', CallerIdPipe) campaignId: string,
  ): Promise<OwnCampaignResource> {
    return this.campaigns.get(caller, campaignId);
  }
}
