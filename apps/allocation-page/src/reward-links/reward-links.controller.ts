import { applyDecorators, Controller, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import {
  ApiLanguage,
  ApiProblems,
  clientIp,
  FailedAttemptLimiter,
  languagePreferenceOf,
  RATE_LIMIT_HEADERS,
} from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LinkToken } from './link-token.guard.js';
import { REVEALED_EXAMPLE, REWARD_LINK_EXAMPLES, RewardLink } from './reward-link.dto.js';
import { RewardLinksService } from './reward-links.service.js';

const ApiRewardLink = (examples: Record<string, { value: object }>) =>
  applyDecorators(
    ApiExtraModels(RewardLink),
    ApiResponse({
      status: 200,
      description: 'The link, with its card if it is revealed',
      headers: {
        'Perkway-Revealed-At': {
          description: 'When the link was revealed, in Unix seconds; only if that was before this request',
          schema: { type: 'integer' },
        },
      },
      content: { 'application/json': { schema: { $ref: getSchemaPath(RewardLink) }, examples } },
    }),
  );

/**
 * Serves the recipient operations (specification section 4.4). They need no API key; the token of the link authorizes
 * them.
 */
@ApiTags('Reward links')
@ApiProblems('LINK_NOT_FOUND', 'TOO_MANY_REQUESTS', 'DEPENDENCY_UNAVAILABLE')
@ApiResponse({ status: 404, headers: RATE_LIMIT_HEADERS })
@ApiResponse({ status: 429, headers: RATE_LIMIT_HEADERS })
@Controller('api/reward-link')
export class RewardLinksController {
  constructor(
    private readonly links: RewardLinksService,
    private readonly limiter: FailedAttemptLimiter,
  ) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Get the value and the state of the link',
    description: 'Never reveals a card. A revealed link keeps returning its card.',
  })
  @ApiLanguage()
  @ApiRewardLink(REWARD_LINK_EXAMPLES)
  getRewardLink(
    @LinkToken() token: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RewardLink> {
    return this.respond(request, reply, () => this.links.get({ token, ...languagePreferenceOf(request) }));
  }

  @Post('reveal')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Reveal the card of the link',
    description: 'Call this only after a person has clicked. Repeating it returns the same card. No body.',
  })
  @ApiLanguage()
  @ApiRewardLink(REVEALED_EXAMPLE)
  @ApiProblems('LINK_EXPIRED')
  revealRewardLink(
    @LinkToken() token: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RewardLink> {
    return this.respond(request, reply, () => this.links.reveal({ token, ...languagePreferenceOf(request) }));
  }

  private async respond(
    request: FastifyRequest,
    reply: FastifyReply,
    sendRequest: () => ReturnType<RewardLinksService['get']>,
  ): Promise<RewardLink> {
    void reply.header('vary', 'Accept-Language');
    const { link, language, revealedAt } = await this.limiter.attempt(
      clientIp(request),
      reply,
      'LINK_NOT_FOUND',
      sendRequest,
    );
    if (language) void reply.header('content-language', language);
    if (revealedAt) void reply.header('perkway-revealed-at', revealedAt);
    return link;
  }
}
