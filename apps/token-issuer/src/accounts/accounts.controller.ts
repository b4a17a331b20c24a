import { Body, Controller, Param, Put } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  CALLER_ID_PATTERN,
  RESOLVE_ACCOUNTS,
  RESOLVE_BRANDS,
  type Brand,
  type LookupRequest,
  type ResolvedAccount,
} from '@perkway/domain';
import { Answers, ApiProblems, CallerIdPipe } from '@perkway/platform';
import { AccountResource, PutAccountDto } from './account.dto.js';
import { AccountsService } from './accounts.service.js';

@ApiTags('Management')
@ApiSecurity('apiKey')
@Roles('ADMIN')
@Controller('admin/accounts')
export class AccountsController {
  constructor(private readonly accounts: AccountsService) {}

  @Put(':accountId')
  @ApiOperation({
    operationId: 'putAccount',
    summary: 'Makes an account or replaces what is known of it; its keys stay',
  })
  @ApiParam({
    name: 'accountId',
    schema: { type: 'string', pattern: CALLER_ID_PATTERN },
    example: 'ostervale-bank',
  })
  @ApiResponse({ status: 200, description: 'The account as it is stored', type: AccountResource })
  @ApiProblems(
    'VALIDATION_FAILED',
    'API_KEY_INVALID',
    'FORBIDDEN',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
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
