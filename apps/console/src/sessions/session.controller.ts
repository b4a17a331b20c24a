import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, clientIp, ENV, FailedAttemptLimiter, Public } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleEnv } from '../env.js';
import { OpenIdProvider } from '../sign-in/open-id-provider.js';
import { SessionCookie } from './session-cookie.js';
import { SessionDto, SignInDto, SignInOptionsDto } from './session.dto.js';
import { CurrentSession, type Session } from './session.js';
import { SessionsService } from './sessions.service.js';

@ApiTags('Session')
@Controller('api')
export class SessionController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
    private readonly limiter: FailedAttemptLimiter,
    private readonly provider: OpenIdProvider,
    @Inject(ENV) private readonly env: ConsoleEnv,
  ) {}

  @Public()
  @Post('session')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Signs in with an API key',
    description: 'Ends the previous session, if any.',
  })
  @ApiResponse({
    status: 200,
    description: 'The new session; its id is in a cookie',
    type: SessionDto,
  })
  @ApiProblems('API_KEY_INVALID', 'ORIGIN_FORBIDDEN', 'TOO_MANY_REQUESTS', 'DEPENDENCY_UNAVAILABLE')
  async signIn(
    @Body() { apiKey }: SignInDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionDto> {
    const { id, session } = await this.limiter.attempt(clientIp(request), reply, 'API_KEY_INVALID', () =>
      this.sessions.signInWithKey(apiKey),
    );
    const before = this.cookie.read(request);
    const old = before === undefined ? undefined : await this.sessions.find(before);
    if (old) await this.sessions.end(old);
    this.cookie.write(reply, id);
    return this.toDto(session);
  }

  @Get('session')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'The signed-in user' })
  @ApiResponse({ status: 200, description: 'The session', type: SessionDto })
  getSession(@CurrentSession() session: Session): SessionDto {
    return this.toDto(session);
  }

  @Delete('session')
  @HttpCode(204)
  @ApiOperation({ summary: 'Signs out' })
  @ApiResponse({ status: 204, description: 'The session has ended' })
  async signOut(
    @CurrentSession() session: Session,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.sessions.end(session);
    this.cookie.clear(reply);
  }

  @Public()
  @Get('sign-in')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Ways to sign in other than an API key' })
  @ApiResponse({ status: 200, description: 'The sign-in options', type: SignInOptionsDto })
  getSignInOptions(): SignInOptionsDto {
    return { oidc: this.provider.button };
  }

  private toDto({ account, accountName, role, keyId, email, expiresAt }: Session): SessionDto {
    const { env } = this;
    return {
      accountId: account,
      accountName,
      role,
      keyId,
      person: email,
      expiresAt: expiresAt.toISOString(),
      hosts: {
        perks: env.PERKS_URL,
        links: env.LINKS_URL,
        boost: env.BOOST_URL,
        gift: env.GIFT_URL,
        rewards: env.REWARDS_URL,
        token: env.TOKEN_URL,
        query: env.QUERY_URL,
        events: env.EVENTS_URL,
        console: env.CONSOLE_URL,
      },
      signIn: this.getSignInOptions(),
    };
  }
}
