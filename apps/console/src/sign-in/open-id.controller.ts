import { Controller, Get, Header, Inject, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ApiError, isCallerId, lastOf } from '@perkway/domain';
import { ENV, Public } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleEnv } from '../env.js';
import { HostCookie } from '../sessions/cookies.js';
import { SessionCookie } from '../sessions/session-cookie.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { OpenIdProvider } from './open-id-provider.js';

/** A path of the console, never another site. Longer ones do not fit into the cookie. */
const PAGE = /^\/(?![/\\])[\x21-\x7e]{0,1500}$/;

type Problem = 'PERSON_UNKNOWN' | 'SIGN_IN_FAILED';

/** The two endpoints that the browser itself navigates to. */
@ApiExcludeController()
@Public()
@Controller('api/oidc')
export class OpenIdController {
  /** Lax, because the provider, another site, redirects the browser back. */
  private readonly cookie: HostCookie;

  constructor(
    private readonly provider: OpenIdProvider,
    private readonly sessions: SessionsService,
    private readonly session: SessionCookie,
    @Inject(ENV) { CONSOLE_URL }: ConsoleEnv,
  ) {
    this.cookie = new HostCookie(CONSOLE_URL, 'perkway_oidc', 'lax');
  }

  /**
   * `account` selects one account of a person who belongs to several; the default is the first by id. `next` is the page
   * to open afterwards.
   */
  @Get('start')
  @Header('cache-control', 'no-store')
  async start(
    @Query('account') account: unknown,
    @Query('next') next: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const [wanted, page] = [lastOf(account), lastOf(next)];
    const { url, sealed } = await this.provider.begin({
      account: typeof wanted === 'string' && isCallerId(wanted) ? wanted : undefined,
      next: typeof page === 'string' && PAGE.test(page) ? page : undefined,
    });
    this.cookie.write(reply, sealed);
    void reply.redirect(url.href, 302);
  }

  @Get('callback')
  @Header('cache-control', 'no-store')
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = request.url.split('?', 2)[1] ?? '';
    const { email, account, next } = await this.provider.finish(query, this.cookie.read(request));
    this.cookie.clear(reply);
    if (email === undefined) return goTo(reply, { next, error: 'SIGN_IN_FAILED' });
    try {
      const { id } = await this.sessions.signInPerson(email, account);
      const before = this.session.read(request);
      const old = before === undefined ? undefined : await this.sessions.find(before);
      if (old) await this.sessions.end(old);
      this.session.write(reply, id);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'API_KEY_INVALID') throw error;
      return goTo(reply, { next, error: 'PERSON_UNKNOWN' });
    }
    goTo(reply, { next });
  }
}

/**
 * Sends a page with a refresh instead of a redirect: in a redirect chain that another site started, browsers would not
 * send the new SameSite=Strict cookie.
 */
function goTo(reply: FastifyReply, { next, error }: { next?: string; error?: Problem }): void {
  const params = new URLSearchParams({ ...(error && { error }), ...(next !== undefined && { next }) });
  // With a session, the sign-in page opens `next` at once.
  const address = params.size > 0 ? `/sign-in?${params.toString().replaceAll('&', '&amp;')}` : '/';
  void reply
    .header('content-type', 'text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><title>Perkway</title><meta http-equiv="refresh" content="0;url=${address}"><a href="${address}">Go on</a></html>`,
    );
}
