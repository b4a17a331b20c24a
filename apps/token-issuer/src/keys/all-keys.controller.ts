import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { ApiOwner, ApiPage, ApiSearch, type ListQuery, type Page } from '@perkway/platform';
import { KeyOfAccount } from './api-key.dto.js';
import { KeysService } from './keys.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/keys')
export class AllKeysController {
  constructor(private readonly keys: KeysService) {}

  @Get()
  @ApiOperation({
    summary: 'List the keys of all accounts, including revoked ones, without the keys themselves',
  })
  @ApiSearch('the id, name or last characters')
  @ApiOwner()
  @ApiPage(KeyOfAccount, 'Sorted by id')
  listAllApiKeys(@Query() query: ListQuery): Promise<Page<KeyOfAccount>> {
    return this.keys.listAll(query);
  }
}
