import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { CallerIdPipe } from '@perkway/platform';
import { CampaignResource, PutCampaignDto } from './campaign.dto.js';
import { CampaignsService } from './campaigns.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/campaigns')
export class CampaignsController {
  constructor(private readonly campaigns: CampaignsService) {}

  @Put(':campaignId')
  @ApiOperation({ summary: 'Makes or replaces a campaign' })
  @ApiResponse({ status: 200, description: 'The campaign as it is stored', type: CampaignResource })
  putCampaign(
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Body() body: PutCampaignDto,
  ): Promise<CampaignResource> {
    return this.campaigns.put(campaignId, body);
  }
}
