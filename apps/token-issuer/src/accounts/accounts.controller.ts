import { Body, Controller, Get, Param, Put, Query } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  RESOLVE_ACCOUNTS,
  RESOLVE_BRANDS,
  type Brand,
  type LookupRequest,
  type ResolvedAccount,
} from '@perkway/domain';
import {
  Answers,
  ApiGetStored,
  ApiPage,
  ApiPutStored,
  ApiSearch,
  CallerIdPipe,
  IfMatch,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import { AccountResource, PutAccountDto } from './account.dto.js';
import { AccountsService } from './accounts.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/accounts')
export class AccountsController {
  constructor(private readonly accounts: AccountsService) {}

  @Get()
  @ApiOperation({ summary: 'All accounts' })
  @ApiSearch('the id or name')
  @ApiPage(AccountResource, 'By id')
  listAccounts(@Query() query: ListQuery): Promise<Page<AccountResource>> {
    return this.accounts.list(query);
  }

  @Get(':accountId')
  @ApiOperation({ summary: 'An account' })
  @ApiGetStored(AccountResource, 'ACCOUNT_NOT_FOUND')
  getAccount(@Param('accountId', CallerIdPipe) accountId: string): Promise<AccountResource> {
    return this.accounts.get(accountId);
  }

  @Put(':accountId')
  @ApiOperation({
    summary: 'Makes an account or replaces what is known of it; its keys and people stay',
  })
  @ApiPutStored(AccountResource)
  putAccount(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Body() body: PutAccountDto,
    @IfMatch() ifMatch?: string,
  ): Promise<AccountResource> {
    return this.accounts.put(accountId, body, ifMatch);
  }

  @Answers(RESOLVE_ACCOUNTS)
  resolveAccounts(@Payload() { ids }: LookupRequest): Promise<Record<string, ResolvedAccount>> {
    return this.accounts.resolve(ids);
  }

  @Answers(RESOLVE_BRANDS)
  resolveBrands(@Payload() { ids }: LookupRequest): Promise<Record<string, Brand | null>> {
    return this.accounts.brands(ids);
  }
}
