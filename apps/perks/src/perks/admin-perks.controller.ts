import { Body, Controller, Param, Put } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { CallerIdPipe } from '@perkway/platform';
import { PerkResource, PutPerkDto } from './perk.dto.js';
import { PerksService } from './perks.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/perks')
export class AdminPerksController {
  constructor(private readonly perks: PerksService) {}

  @Put(':perkId')
  @ApiOperation({
    summary: 'Makes or replaces a perk; collections that have it show the change within seconds',
  })
  @ApiResponse({ status: 200, description: 'The perk as it is stored', type: PerkResource })
  async putPerk(
    @Param('perkId', CallerIdPipe) perkId: string,
    @Body() body: PutPerkDto,
  ): Promise<PerkResource> {
    return this.perks.put(perkId, body);
  }
}
