import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  ApiDeleteResource,
  ApiGetResource,
  ApiOwner,
  ApiPage,
  ApiPerk,
  ApiPutResource,
  ApiSearch,
  CallerIdPipe,
  IfMatch,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import { CampaignResource, PutCampaignDto } from './campaign.dto.js';
import { CampaignsService } from './campaigns.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/campaigns')
export class CampaignsController {
  constructor(private readonly campaigns: CampaignsService) {}

  @Get()
  @ApiOperation({ summary: 'List the campaigns of all accounts' })
  @ApiSearch('the id or name')
  @ApiOwner()
  @ApiPerk()
  @ApiPage(CampaignResource, 'Ordered by id')
  listStoredCampaigns(@Query() query: ListQuery): Promise<Page<CampaignResource>> {
    return this.campaigns.list(query);
  }

  @Get(':campaignId')
  @ApiOperation({ summary: 'Get a campaign of any account' })
  @ApiGetResource(CampaignResource, 'CAMPAIGN_NOT_FOUND')
  getStoredCampaign(@Param('campaignId', CallerIdPipe) campaignId: string): Promise<CampaignResource> {
    return this.campaigns.get(campaignId);
  }

  @Put(':campaignId')
  @ApiOperation({ summary: 'Create or replace a campaign' })
  @ApiPutResource(CampaignResource)
  putCampaign(
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Body() body: PutCampaignDto,
    @IfMatch() ifMatch?: string,
  ): Promise<CampaignResource> {
    return this.campaigns.put(campaignId, body, ifMatch);
  }

  @Delete(':campaignId')
  @ApiOperation({
    summary: 'Delete a campaign',
    description:
      'From then on its pixels record nothing and no new links can be created. Tracked data stays.',
  })
  @ApiDeleteResource('CAMPAIGN_NOT_FOUND')
  deleteCampaign(
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @IfMatch() ifMatch?: string,
  ): Promise<void> {
    return this.campaigns.delete(campaignId, ifMatch);
  }
}
