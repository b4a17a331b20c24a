import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiKeyResource, CreatedApiKey, NewApiKeyDto, RotateApiKeyDto } from '@perkway/auth';
import { ApiProblems } from '@perkway/platform';
import { CurrentSession, type Session } from '../sessions/session.js';
import { OwnKeysService } from './own-keys.service.js';

@ApiTags('Keys')
@Controller('api/keys')
export class OwnKeysController {
  constructor(private readonly keys: OwnKeysService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'List the keys of the account, including revoked ones' })
  @ApiResponse({ status: 200, description: 'Oldest first', type: [ApiKeyResource] })
  listKeys(@CurrentSession() session: Session): Promise<ApiKeyResource[]> {
    return this.keys.list(session);
  }

  @Post()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Create a key of the account' })
  @ApiResponse({ status: 201, description: 'The key, which is shown only once', type: CreatedApiKey })
  @ApiProblems('FORBIDDEN')
  createKey(@CurrentSession() session: Session, @Body() body: NewApiKeyDto): Promise<CreatedApiKey> {
    return this.keys.create(session, body);
  }

  @Post(':keyId/rotate')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Replace a key of the account by a new one; the old one still works for a while',
  })
  @ApiResponse({ status: 201, description: 'The new key, which is shown only once', type: CreatedApiKey })
  @ApiProblems('FORBIDDEN', 'KEY_NOT_FOUND', 'KEY_ROTATED', 'KEY_EXPIRED')
  rotateKey(
    @CurrentSession() session: Session,
    @Param('keyId') keyId: string,
    @Body() body: RotateApiKeyDto,
  ): Promise<CreatedApiKey> {
    return this.keys.rotate(session, keyId, body);
  }

  @Delete(':keyId')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Revoke a key of the account',
    description: 'Takes effect everywhere within 5 seconds, and also ends the sessions that the key opened.',
  })
  @ApiResponse({ status: 204, description: 'The key is revoked' })
  @ApiProblems('KEY_NOT_FOUND')
  revokeKey(@CurrentSession() session: Session, @Param('keyId') keyId: string): Promise<void> {
    return this.keys.revoke(session, keyId);
  }
}
