import { applyDecorators, Controller, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { RequiredScope, type AuthenticatedRequest } from '@perkway/auth';
import { readCustomAttributes } from '@perkway/domain';
import { ApiProblems, Direct } from '@perkway/platform';
import { ApiAttributes } from '@perkway/tracking';
import type { FastifyReply } from 'fastify';
import { requestParametersOf, NeedsIdempotencyKey } from './request-parameters.guard.js';
import { GenerateRewardLink, RewardLinkCreated } from './reward-link.dto.js';
import { LimitReached, RewardLinksService, type GeneratedLink } from './reward-links.service.js';

export const ApiCreatedBy = () =>
  ApiHeader({
    name: 'X-Created-By',
    required: true,
    description: 'Who creates the link: UTF-8, up to 255 characters, stored as sent',
    example: 'crm-campaign-42',
  });

export const ApiLinkCreated = (description: string) =>
  applyDecorators(
    ApiResponse({
      status: 201,
      description,
      type: RewardLinkCreated,
      headers: {
        'Idempotent-Replayed': {
          description: '`true` if an earlier request created the link',
          schema: { type: 'string' },
        },
      },
    }),
    ApiResponse({
      status: 409,
      headers: {
        'Perkway-Limit': {
          description: 'With `LIMIT_REACHED`: the id of the limit',
          schema: { type: 'string' },
          example: 'monthly-budget',
        },
        'Retry-After': {
          description: 'With `LIMIT_REACHED`, if the limit resets within a day: seconds until then',
          schema: { type: 'integer' },
          example: 3600,
        },
      },
    }),
  );

@ApiTags('Reward links')
@RequiredScope('links:create')
@Controller('pool/:poolId/reward-links')
export class RewardLinksController {
  constructor(private readonly links: RewardLinksService) {}

  @Direct()
  @Post()
  @NeedsIdempotencyKey()
  @ApiOperation({
    summary: 'Reserve a card and create the link that reveals it',
    description:
      'A repeated request with the same idempotencyKey, pool and body returns the same link and reserves nothing, even if the link has been revealed or has expired since. Bodies are the same if their JSON values are equal; the order of members does not matter. A rejected request does not use up the key. Custom attributes are not compared; those of the first request stay with the link, and every event of the link carries them.',
  })
  @ApiParam({ name: 'poolId', type: 'string', format: 'uuid' })
  @ApiQuery({
    name: 'idempotencyKey',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: '3f0d4c9e-8a11-4a57-b8c0-1f2e3d4c5b6a',
    description: 'Chosen by the caller; case-insensitive and unique within the account',
  })
  @ApiCreatedBy()
  @ApiAttributes()
  @ApiBody({ type: GenerateRewardLink })
  @ApiLinkCreated('The link, created now or by an earlier request with the same key')
  @ApiProblems(
    'IDEMPOTENCY_KEY_INVALID',
    'CREATED_BY_MISSING',
    'CREATED_BY_INVALID',
    'DENOMINATION_INVALID',
    'CURRENCY_INVALID',
    'EXPIRING_DATE_INVALID',
    'COUNTRY_INVALID',
    'CAMPAIGN_ID_INVALID',
    'JOURNEY_ID_INVALID',
    'REFERENCE_INVALID',
    'POOL_NOT_FOUND',
    'IDEMPOTENCY_KEY_CONFLICT',
    'LIMIT_REACHED',
    'NO_AVAILABLE_CARDS',
  )
  async generateRewardLink(@Req() request: AuthenticatedRequest, @Res() reply: FastifyReply): Promise<void> {
    const { idempotencyKey, createdBy } = requestParametersOf(request);
    const { poolId } = request.params as { poolId: string };
    const attributes = readCustomAttributes(request.query as object);
    const link = await withLinkHeaders(
      reply,
      this.links.generate(request.caller!, poolId, idempotencyKey!, createdBy, attributes, request.body),
    );
    void reply.code(201).header('cache-control', 'no-store').send(link);
  }
}

/** Returns the link. Sets the headers that mark a replay, or that name the limit that refused the link. */
export async function withLinkHeaders(
  reply: FastifyReply,
  link: Promise<GeneratedLink>,
): Promise<RewardLinkCreated> {
  try {
    const { isReplay, ...body } = await link;
    if (isReplay) void reply.header('idempotent-replayed', 'true');
    return body;
  } catch (error) {
    if (error instanceof LimitReached) nameLimit(error, reply);
    throw error;
  }
}

/** No `Retry-After` is sent for a limit that resets later than this. */
const MAX_RETRY_AFTER_S = 86_400;

function nameLimit({ reached: { limit, resetsIn } }: LimitReached, reply: FastifyReply): void {
  void reply.header('perkway-limit', limit);
  if (resetsIn !== null && resetsIn <= MAX_RETRY_AFTER_S)
    void reply.header('retry-after', String(Math.max(1, resetsIn)));
}
