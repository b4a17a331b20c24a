import { Controller, Get, Header, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { ApiProblems } from '@perkway/platform';
import { FoundRewardLinks } from './issued-link.dto.js';
import { IssuedLinksService, SHORT_ID } from './issued-links.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/reward-links')
export class AdminLinksController {
  constructor(private readonly links: IssuedLinksService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Find a reward link of any account',
    description:
      'Finds the link by the reference that its recipient quotes. Tokens, and what may identify a person, are not included.',
  })
  @ApiQuery({
    name: 'short_id',
    description: 'The first 8 characters of the id',
    schema: { type: 'string', pattern: SHORT_ID.source, example: '5d0f0c7e' },
  })
  @ApiResponse({
    status: 200,
    description: 'The matching links: usually one',
    type: FoundRewardLinks,
  })
  @ApiProblems('VALIDATION_FAILED')
  async findRewardLinks(@Query('short_id') shortId: unknown): Promise<FoundRewardLinks> {
    return { data: await this.links.findInAllAccounts(shortId) };
  }
}
