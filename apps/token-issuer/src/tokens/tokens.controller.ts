import { Controller, Get, Header, Req, Res } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ApiExcludeEndpoint, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { RequiredScope, type AuthenticatedRequest } from '@perkway/auth';
import {
  CALLER_ID_PATTERN,
  GET_ANALYTICS_KEYS,
  SIGN_STATEMENT,
  type AnalyticsKeys,
  type ClosedStatement,
} from '@perkway/domain';
import { RpcHandler, ApiProblems, Direct, Public } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { CubeToken, JsonWebKeySet } from './cube-token.dto.js';
import { TokensService } from './tokens.service.js';

@ApiTags('Analytics tokens')
@Controller()
export class TokensController {
  constructor(private readonly tokens: TokensService) {}

  @Direct()
  @RequiredScope('analytics:read')
  @Get('cube/token')
  @ApiOperation({
    summary: 'Get a token for the query host, scoped to the account of the key and valid for five minutes',
  })
  @ApiQuery({
    name: 'clientId',
    required: false,
    description: 'The account that the token is for. Only for ADMIN keys; a USER key gets 403',
    schema: { type: 'string', pattern: CALLER_ID_PATTERN },
  })
  @ApiResponse({ status: 200, description: 'The token and its expiry', type: CubeToken })
  @ApiProblems('VALIDATION_FAILED', 'FORBIDDEN', 'ACCOUNT_NOT_FOUND')
  issueCubeToken(@Req() request: AuthenticatedRequest, @Res() reply: FastifyReply): Promise<void> | void {
    const { clientId } = request.query as { clientId?: unknown };
    const send = (token: CubeToken) => void reply.header('cache-control', 'no-store').send(token);
    const issued = this.tokens.issue(request.caller!, clientId);
    return issued instanceof Promise ? issued.then(send) : send(issued);
  }

  @Public()
  @Get('.well-known/jwks.json')
  @Header('Cache-Control', 'public, max-age=60')
  @ApiOperation({
    summary: 'Get the public keys that verify tokens and statements (RFC 7517)',
  })
  @ApiResponse({ status: 200, description: 'All keys whose tokens are accepted', type: JsonWebKeySet })
  getAnalyticsJwks(): Pick<AnalyticsKeys, 'keys'> {
    return { keys: this.tokens.published().keys };
  }

  @ApiExcludeEndpoint()
  @RpcHandler(GET_ANALYTICS_KEYS)
  analyticsKeys(): AnalyticsKeys {
    return this.tokens.published();
  }

  @ApiExcludeEndpoint()
  @RpcHandler(SIGN_STATEMENT)
  signStatement(@Payload() statement: ClosedStatement): { jws: string } {
    return { jws: this.tokens.signStatement(statement) };
  }
}
