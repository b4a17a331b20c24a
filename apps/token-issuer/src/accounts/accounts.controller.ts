import { Body, Controller, Get, Param, Put, Query } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  RESOLVE_ACCOUNTS,
  RESOLVE_BRANDS,
  RESOLVE_ORIGINS,
  type Brand,
  type LookupRequest,
  type ResolvedAccount,
} from '@perkway/domain';
import {
  RpcHandler,
  ApiGetResource,
  ApiPage,
  ApiPutResource,
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
  @ApiOperation({ summary: 'List all accounts' })
  @ApiSearch('the id or name')
  @ApiPage(AccountResource, 'Sorted by id')
  listAccounts(@Query() query: ListQuery): Promise<Page<AccountResource>> {
    return this.accounts.list(query);
  }

  @Get(':accountId')
  @ApiOperation({ summary: 'Get an account' })
  @ApiGetResource(AccountResource, 'ACCOUNT_NOT_FOUND')
  getAccount(@Param('accountId', CallerIdPipe) accountId: string): Promise<AccountResource> {
    return this.accounts.get(accountId);
  }

  @Put(':accountId')
  @ApiOperation({
    summary: 'Create an account or replace its settings; its keys and people stay',
  })
  @ApiPutResource(AccountResource)
  putAccount(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Body() body: PutAccountDto,
    @IfMatch() ifMatch?: string,
  ): Promise<AccountResource> {
    return this.accounts.put(accountId, body, ifMatch);
  }

  @RpcHandler(RESOLVE_ACCOUNTS)
  resolveAccounts(@Payload() { ids }: LookupRequest): Promise<Record<string, ResolvedAccount>> {
    return this.accounts.resolve(ids);
  }

  @RpcHandler(RESOLVE_ORIGINS)
  resolveOrigins(@Payload() { ids }: LookupRequest): Promise<Record<string, true>> {
    return this.accounts.listedOrigins(ids);
  }

  @RpcHandler(RESOLVE_BRANDS)
  resolveBrands(@Payload() { ids }: LookupRequest): Promise<Record<string, Brand | null>> {
    return this.accounts.brands(ids);
  }
}
