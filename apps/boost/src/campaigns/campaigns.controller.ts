import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  ApiDeleteStored,
  ApiGetStored,
  ApiOwner,
  ApiPage,
  ApiPutStored,
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
  @ApiOperation({ summary: 'The campaigns of all accounts' })
  @ApiSearch('the id or name')
  @ApiOwner()
  @ApiPage(CampaignResource, 'By id')
  listStoredCampaigns(@Query() query: ListQuery): Promise<Page<CampaignResource>> {
    return this.campaigns.list(query);
  }

  @Get(':campaignId')
  @ApiOperation({ summary: 'A campaign of any account' })
  @ApiGetStored(CampaignResource, 'CAMPAIGN_NOT_FOUND')
  getStoredCampaign(@Param('campaignId', CallerIdPipe) campaignId: string): Promise<CampaignResource> {
    return this.campaigns.get(campaignId);
  }

  @Put(':campaignId')
  @ApiOperation({ summary: 'Makes or replaces a campaign' })
  @ApiPutStored(CampaignResource)
  putCampaign(
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Body() body: PutCampaignDto,
    @IfMatch() ifMatch?: string,
  ): Promise<CampaignResource> {
    return this.campaigns.put(campaignId, body, ifMatch);
  }

  @Delete(':campaignId')
  @ApiOperation({
    summary: 'Deletes a campaign',
    description: 'Its links lead nowhere from then on, its pixels record nothing; what was tracked stays.',
  })
  @ApiDeleteStored('CAMPAIGN_NOT_FOUND')
  deleteCampaign(
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @IfMatch() ifMatch?: string,
  ): Promise<void> {
    return this.campaigns.delete(campaignId, ifMatch);
  }
}
