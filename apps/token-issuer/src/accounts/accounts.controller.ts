import { Body, Controller, Param, Put } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  RESOLVE_ACCOUNTS,
  RESOLVE_BRANDS,
  type Brand,
  type LookupRequest,
  type ResolvedAccount,
} from '@perkway/domain';
import { Answers, CallerIdPipe } from '@perkway/platform';
import { AccountResource, PutAccountDto } from './account.dto.js';
import { AccountsService } from './accounts.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/accounts')
export class AccountsController {
  constructor(private readonly accounts: AccountsService) {}

  @Put(':accountId')
  @ApiOperation({
    summary: 'Makes an account or replaces what is known of it; its keys stay',
  })
  @ApiResponse({ status: 200, description: 'The account as it is stored', type: AccountResource })
  putAccount(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Body() body: PutAccountDto,
  ): Promise<AccountResource> {
    return this.accounts.put(accountId, body);
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
