import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { CALLER_ID_PATTERN } from '@perkway/domain';
import { ApiProblems, CallerIdPipe } from '@perkway/platform';
import { CampaignResource, PutCampaignDto } from './campaign.dto.js';
import { CampaignsService } from './campaigns.service.js';

@ApiTags('Management')
@ApiSecurity('apiKey')
@Roles('ADMIN')
@Controller('admin/campaigns')
export class CampaignsController {
  constructor(private readonly campaigns: CampaignsService) {}

  @Put(':campaignId')
  @ApiOperation({ operationId: 'putCampaign', summary: 'Makes or replaces a campaign' })
  @ApiParam({
    name: 'campaignId',
    schema: { type: 'string', pattern: CALLER_ID_PATTERN },
    example: 'ostervale-spring-travel',
  })
  @ApiResponse({ status: 200, description: 'The campaign as it is stored', type: CampaignResource })
  @ApiProblems(
    'VALIDATION_FAILED',
    'API_KEY_INVALID',
    'FORBIDDEN',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  putCampaign(
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Body() body: PutCampaignDto,
  ): Promise<CampaignResource> {
    return this.campaigns.put(campaignId, body);
  }
}
