import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { CALLER_ID_PATTERN } from '@perkway/domain';
import { ApiProblems, CallerIdPipe } from '@perkway/platform';
import { PerkResource, PutPerkDto } from './perk.dto.js';
import { PerksService } from './perks.service.js';

@ApiTags('Management')
@ApiSecurity('apiKey')
@Roles('ADMIN')
@Controller('admin/perks')
export class AdminPerksController {
  constructor(private readonly perks: PerksService) {}

  @Put(':perkId')
  @ApiOperation({
    operationId: 'putPerk',
    summary: 'Makes or replaces a perk; collections that have it show the change within seconds',
  })
  @ApiParam({
    name: 'perkId',
    schema: { type: 'string', pattern: CALLER_ID_PATTERN },
    example: 'quillon-third-night',
  })
  @ApiResponse({ status: 200, description: 'The perk as it is stored', type: PerkResource })
  @ApiProblems(
    'VALIDATION_FAILED',
    'API_KEY_INVALID',
    'FORBIDDEN',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  async putPerk(
    @Param('perkId', CallerIdPipe) perkId: string,
    @Body() body: PutPerkDto,
  ): Promise<PerkResource> {
    return this.perks.put(perkId, body);
  }
}
