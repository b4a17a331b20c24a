import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { ApiProblems, clientIp, ENV, FailedAttemptLimiter, Public } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleEnv } from '../env.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { OpenIdProvider } from '../sign-in/open-id-provider.js';
import { SessionCookie } from './session-cookie.js';
import { SessionDto, SignInDto, SignInOptionsDto, ViewAccountDto } from './session.dto.js';
import { CurrentSession, type Session } from './session.js';
import { SessionsService } from './sessions.service.js';
import { WhileViewing } from './viewing.js';

@ApiTags('Session')
@Controller('api')
export class SessionController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
    private readonly limiter: FailedAttemptLimiter,
    private readonly provider: OpenIdProvider,
    private readonly log: AuditLog,
    @Inject(ENV) private readonly env: ConsoleEnv,
  ) {}

  @Public()
  @Post('session')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Sign in with an API key',
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
  @ApiOperation({ summary: 'Get the signed-in user' })
  @ApiResponse({ status: 200, description: 'The session', type: SessionDto })
  getSession(@CurrentSession() session: Session): SessionDto {
    return this.toDto(session);
  }

  @Post('view')
  @Roles('ADMIN')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Show the console as the people of an account see it',
    description: 'For operators. Until the view ends, the session reads the account and changes nothing.',
  })
  @ApiResponse({ status: 200, description: 'The session', type: SessionDto })
  @ApiProblems('ACCOUNT_NOT_FOUND')
  async viewAccount(
    @CurrentSession() session: Session,
    @Body() { accountId }: ViewAccountDto,
    @Req() request: FastifyRequest,
  ): Promise<SessionDto> {
    const change = { action: 'POST', host: 'console', path: `/accounts/${accountId}/view`, before: null };
    return this.log.record(
      session,
      change,
      async () => this.toDto(await this.sessions.view(this.cookie.read(request)!, session, accountId)),
      () => ({ status: 200, after: null }),
    );
  }

  @Delete('view')
  @WhileViewing()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Return to the console of the operator' })
  @ApiResponse({ status: 200, description: 'The session', type: SessionDto })
  async endView(@CurrentSession() session: Session, @Req() request: FastifyRequest): Promise<SessionDto> {
    return this.toDto(await this.sessions.endView(this.cookie.read(request)!, session));
  }

  @Delete('session')
  @WhileViewing()
  @HttpCode(204)
  @ApiOperation({ summary: 'Sign out' })
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
  @ApiOperation({ summary: 'List ways to sign in other than an API key' })
  @ApiResponse({ status: 200, description: 'The sign-in options', type: SignInOptionsDto })
  getSignInOptions(): SignInOptionsDto {
    return { oidc: this.provider.button };
  }

  private toDto({ account, accountName, role, keyId, email, viewedBy, expiresAt }: Session): SessionDto {
    const { env } = this;
    return {
      accountId: account,
      accountName,
      role,
      keyId,
      person: email,
      viewedBy,
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
