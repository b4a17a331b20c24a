import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  ApiKeyResource,
  CreatedApiKey,
  CurrentCaller,
  KEY_RESOLVER,
  KEY_USE_RECORDER,
  Roles,
  RotateApiKeyDto,
  type KeyResolver,
  type KeyUseRecorder,
} from '@perkway/auth';
import {
  ADD_ACCOUNT_KEY,
  ApiError,
  LIST_ACCOUNT_KEYS,
  REPORT_KEY_USES,
  RESOLVE_KEYS,
  REVOKE_ACCOUNT_KEY,
  ROTATE_ACCOUNT_KEY,
  type AccountKey,
  type AddAccountKey,
  type Caller,
  type ErrorCode,
  type KeyUses,
  type LookupRequest,
  type ResolvedKey,
  type RotateAccountKey,
} from '@perkway/domain';
import { RpcHandler, ApiProblems, CallerIdPipe } from '@perkway/platform';
import { CreateApiKeyDto } from './api-key.dto.js';
import { KeysService } from './keys.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/accounts/:accountId/keys')
export class KeysController {
  constructor(
    private readonly keys: KeysService,
    @Inject(KEY_RESOLVER) private readonly resolve: KeyResolver,
    @Inject(KEY_USE_RECORDER) private readonly record: KeyUseRecorder,
  ) {}

  @Post()
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    summary: 'Create a key for the account, or import an existing one',
    description:
      'If your own key expires, a new key of its account, or a new ADMIN key of any account, expires no later than your key.',
  })
  @ApiResponse({ status: 201, description: 'The key, which is shown only once', type: CreatedApiKey })
  @ApiProblems('ACCOUNT_NOT_FOUND', 'KEY_EXISTS')
  createApiKey(
    @CurrentCaller() caller: Caller,
    @Param('accountId', CallerIdPipe) accountId: string,
    @Body() body: CreateApiKeyDto,
  ): Promise<CreatedApiKey> {
    return this.keys.create(accountId, caller.keyId, body);
  }

  @Get()
  @ApiOperation({
    summary: 'List the keys of the account, including revoked ones, without the keys themselves',
  })
  @ApiResponse({ status: 200, description: 'Oldest first', type: [ApiKeyResource] })
  @ApiProblems('ACCOUNT_NOT_FOUND')
  listApiKeys(@Param('accountId', CallerIdPipe) accountId: string): Promise<ApiKeyResource[]> {
    return this.keys.list(accountId);
  }

  @Delete(':keyId')
  @HttpCode(204)
  @ApiParam({ name: 'keyId', format: 'uuid', example: '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11' })
  @ApiOperation({
    summary: 'Revoke a key; it is rejected everywhere within 5 seconds',
  })
  @ApiResponse({ status: 204, description: 'The key is revoked' })
  @ApiProblems('ACCOUNT_NOT_FOUND', 'KEY_NOT_FOUND')
  async revokeApiKey(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Param('keyId') keyId: string,
  ): Promise<void> {
    await this.keys.revoke(accountId, keyId);
  }

  @Post(':keyId/rotate')
  @Header('Cache-Control', 'no-store')
  @ApiParam({ name: 'keyId', format: 'uuid', example: '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11' })
  @ApiOperation({
    summary: 'Replace a key by a new one; the old one still works for a while',
    description:
      'The new key has the role, scopes, name and `expires_at` of the old one, and limits go on counting. A key that expires cannot rotate a key of its own account, or an ADMIN key, that lives longer (403). If the response was lost, rotate the key that `rotated_to` of the old one names.',
  })
  @ApiResponse({ status: 201, description: 'The new key, which is shown only once', type: CreatedApiKey })
  @ApiProblems('ACCOUNT_NOT_FOUND', 'KEY_NOT_FOUND', 'KEY_ROTATED', 'KEY_EXPIRED')
  rotateApiKey(
    @CurrentCaller() caller: Caller,
    @Param('accountId', CallerIdPipe) accountId: string,
    @Param('keyId') keyId: string,
    @Body() body: RotateApiKeyDto,
  ): Promise<CreatedApiKey> {
    return this.keys.rotate(accountId, keyId, caller.keyId, body);
  }

  @RpcHandler(LIST_ACCOUNT_KEYS)
  async listAccountKeys(@Payload() { account }: { account: string }): Promise<{ keys: AccountKey[] }> {
    return { keys: await this.keys.list(account) };
  }

  @RpcHandler(ADD_ACCOUNT_KEY)
  async addAccountKey(
    @Payload() request: AddAccountKey,
  ): Promise<{ key: AccountKey } | { error: 'FORBIDDEN' }> {
    const key = await this.keys.add(request);
    return key ? { key } : { error: 'FORBIDDEN' };
  }

  @RpcHandler(REVOKE_ACCOUNT_KEY)
  async revokeAccountKey(
    @Payload() { account, keyId }: { account: string; keyId: string },
  ): Promise<{ key: AccountKey } | { error: 'KEY_NOT_FOUND' }> {
    return orError(this.keys.revoke(account, keyId), ['KEY_NOT_FOUND']);
  }

  @RpcHandler(ROTATE_ACCOUNT_KEY)
  async rotateAccountKey(@Payload() request: RotateAccountKey) {
    const { consoleKeyId: makerKeyId, ...rest } = request;
    const replaced = this.keys.replace({ ...rest, makerKeyId, isSession: true });
    return orError(replaced, ['FORBIDDEN', 'KEY_NOT_FOUND', 'KEY_ROTATED', 'KEY_EXPIRED']);
  }

  @RpcHandler(RESOLVE_KEYS)
  resolveKeys(@Payload() { ids }: LookupRequest): Promise<Record<string, ResolvedKey>> {
    return this.resolve(ids);
  }

  @RpcHandler(REPORT_KEY_USES)
  async reportKeyUses(@Payload() uses: KeyUses): Promise<object> {
    await this.record(uses);
    return {};
  }
}

/** Returns the key, or the expected error as data. */
async function orError<Code extends ErrorCode>(
  work: Promise<AccountKey>,
  expected: readonly Code[],
): Promise<{ key: AccountKey } | { error: Code }> {
  try {
    return { key: await work };
  } catch (error) {
    const code = error instanceof ApiError && expected.find((code) => code === error.code);
    if (code) return { error: code };
    throw error;
  }
}
