import {
  applyDecorators,
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { ApiBody, ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, RequiredScope } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import { ApiPage, ApiProblems, type ListQuery, type Page } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RewardLink } from './issued-link.dto.js';
import { ISSUED_LINKS, IssuedLinksService, LINK_STATES, SHORT_ID } from './issued-links.service.js';
import { requestParametersOf, NeedsCreatedBy } from './request-parameters.guard.js';
import { ReplaceRewardLink, RewardLinkCreated } from './reward-link.dto.js';
import { ApiCreatedBy, ApiLinkCreated, withLinkHeaders } from './reward-links.controller.js';
import { RewardLinksService } from './reward-links.service.js';

const ApiFilter = (
  name: string,
  { description, ...schema }: { description?: string; [keyword: string]: unknown },
) => ApiQuery({ name, required: false, schema, ...(description && { description }) });
const ApiLinkId = () =>
  applyDecorators(ApiParam({ name: 'linkId', format: 'uuid' }), ApiProblems('LINK_NOT_FOUND'));

/** The links that an account has created, in all pools. */
@ApiTags('Reward links')
@RequiredScope('links:read')
@Controller('reward-links')
export class IssuedLinksController {
  constructor(
    private readonly links: IssuedLinksService,
    private readonly newLinks: RewardLinksService,
  ) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'List the reward links of the account',
    description:
      'Tokens are not included. Filters match exactly and combine with AND. With `state` or `pool_id`, a page may have fewer links than `limit` although more follow: the last page is the one whose `next_cursor` is null.',
  })
  @ApiFilter('state', { type: 'string', enum: LINK_STATES })
  @ApiFilter('pool_id', { type: 'string', format: 'uuid' })
  @ApiFilter('short_id', {
    type: 'string',
    pattern: SHORT_ID.source,
    description: 'First 8 characters of the id, which recipients quote; another value matches no link',
  })
  @ApiFilter('created_by', { type: 'string' })
  @ApiFilter('reference', { type: 'string' })
  @ApiFilter('campaign_id', { type: 'string' })
  @ApiFilter('journey_id', { type: 'string' })
  @ApiPage(RewardLink, 'Newest first', ISSUED_LINKS)
  @ApiProblems('STATE_INVALID', 'POOL_ID_INVALID')
  listRewardLinks(@CurrentCaller() caller: Caller, @Query() query: ListQuery): Promise<Page<RewardLink>> {
    return this.links.list(caller, query);
  }

  @Get(':linkId')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Get one reward link of the account' })
  @ApiLinkId()
  @ApiResponse({ status: 200, description: 'The link', type: RewardLink })
  getIssuedRewardLink(@CurrentCaller() caller: Caller, @Param('linkId') linkId: string): Promise<RewardLink> {
    return this.links.get(caller, linkId);
  }

  @RequiredScope('links:cancel')
  @Post(':linkId/cancel')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Cancel a reward link',
    description:
      'The link expires now, and its card becomes available at once, unless a withdrawal waits for it. An expired or already cancelled link stays as it is.',
  })
  @ApiLinkId()
  @ApiResponse({ status: 200, description: 'The link after the call', type: RewardLink })
  @ApiProblems('LINK_ALREADY_REVEALED')
  cancelRewardLink(@CurrentCaller() caller: Caller, @Param('linkId') linkId: string): Promise<RewardLink> {
    return this.links.cancel(caller, linkId);
  }

  @RequiredScope('links:create')
  @Post(':linkId/replace')
  @HttpCode(201)
  @Header('cache-control', 'no-store')
  @NeedsCreatedBy()
  @ApiOperation({
    summary: 'Replace a reward link',
    description:
      'Reserves another card of the same pool, denomination, currency and country for a recipient whose card does not work or, with `cancel_unrevealed`, whose link was lost. The new link inherits the client-defined fields and attributes. A link has one replacement: a repeated request returns it, whatever the body. A rejected request can be sent again.',
  })
  @ApiLinkId()
  @ApiCreatedBy()
  @ApiBody({ type: ReplaceRewardLink })
  @ApiLinkCreated('The link, created now or by an earlier request')
  @ApiProblems(
    'CREATED_BY_MISSING',
    'CREATED_BY_INVALID',
    'REASON_INVALID',
    'EXPIRING_DATE_INVALID',
    'LINK_NOT_REVEALED',
    'LINK_ALREADY_REVEALED',
    'POOL_NOT_FOUND',
    'LIMIT_REACHED',
    'NO_AVAILABLE_CARDS',
  )
  replaceRewardLink(
    @CurrentCaller() caller: Caller,
    @Param('linkId') linkId: string,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RewardLinkCreated> {
    return withLinkHeaders(
      reply,
      this.newLinks.replace(caller, linkId, requestParametersOf(request).createdBy, body),
    );
  }
}
