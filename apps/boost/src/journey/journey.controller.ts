import { Body, Controller, Get, Header, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { AllowQueryKey, CurrentCaller } from '@perkway/auth';
import { CALLER_ID_PATTERN, type Caller } from '@perkway/domain';
import { ApiProblems, CallerIdPipe, Public } from '@perkway/platform';
import { ApiTracked } from '@perkway/tracking';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClicksService, type Query } from '../clicks/clicks.service.js';
import { redirect } from '../clicks/redirect.js';
import { RewardsResource, TeasersResource, TrackDto, TrackedResource } from './journey.dto.js';
import { JourneyService } from './journey.service.js';

const ApiCampaign = () =>
  ApiParam({
    name: 'campaignId',
    schema: { type: 'string', pattern: CALLER_ID_PATTERN },
    example: 'ostervale-spring-travel',
  });
const READ_ERRORS = [
  'VALIDATION_FAILED',
  'API_KEY_INVALID',
  'CAMPAIGN_NOT_FOUND',
  'TOO_MANY_REQUESTS',
  'DEPENDENCY_UNAVAILABLE',
] as const;

@ApiTags('Customer journey')
@Controller()
export class JourneyController {
  constructor(
    private readonly journey: JourneyService,
    private readonly clicks: ClicksService,
  ) {}

  @AllowQueryKey()
  @ApiSecurity('apiKey')
  @Get('teasers/:campaignId')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getTeasers',
    summary: 'The incentives of a campaign, without links',
    description: 'Records nothing: a view is a pixel load or `POST /track`.',
  })
  @ApiCampaign()
  @ApiTracked()
  @ApiResponse({ status: 200, type: TeasersResource })
  @ApiProblems(...READ_ERRORS)
  getTeasers(
    @CurrentCaller() caller: Caller,
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Req() request: FastifyRequest,
  ): Promise<TeasersResource> {
    return this.journey.teasers(caller, campaignId, request.query as Query);
  }

  @AllowQueryKey()
  @ApiSecurity('apiKey')
  @Get('rewards/:campaignId')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getRewards',
    summary: 'The incentives of a campaign, with links',
    description: 'Records nothing. Each `click_url` carries the journey and the attributes given here.',
  })
  @ApiCampaign()
  @ApiTracked()
  @ApiResponse({ status: 200, type: RewardsResource })
  @ApiProblems(...READ_ERRORS)
  getRewards(
    @CurrentCaller() caller: Caller,
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Req() request: FastifyRequest,
  ): Promise<RewardsResource> {
    return this.journey.rewards(caller, campaignId, request.query as Query);
  }

  @AllowQueryKey()
  @ApiSecurity('apiKey')
  @Post('track/:campaignId')
  @HttpCode(202)
  @Header('cache-control', 'no-store')
  @ApiOperation({ operationId: 'trackJourneyEvent', summary: 'Records a view or a conversion' })
  @ApiCampaign()
  @ApiTracked()
  @ApiResponse({ status: 202, description: 'It is durable', type: TrackedResource })
  @ApiProblems(
    'VALIDATION_FAILED',
    'PERK_IS_NOT_IN_CAMPAIGN',
    'API_KEY_INVALID',
    'CAMPAIGN_NOT_FOUND',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  async trackJourneyEvent(
    @CurrentCaller() caller: Caller,
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Req() request: FastifyRequest,
    @Body() body: TrackDto,
  ): Promise<TrackedResource> {
    return { journeyId: await this.journey.track(caller, campaignId, request.query as Query, body) };
  }

  @Public()
  @Get('click')
  @ApiOperation({
    operationId: 'followJourneyClick',
    summary: 'Records the click and redirects to the offer',
    description:
      'Every click counts. `HEAD` answers the same headers and records nothing. Errors are a page for a browser.',
  })
  @ApiQuery({ name: 'token', required: true, description: 'From a click_url', example: 'AQJrMVsi...' })
  @ApiTracked()
  @ApiResponse({
    status: 302,
    description: 'To the current offer of the perk',
    headers: {
      Location: { schema: { type: 'string', format: 'uri' }, example: 'https://shop.example/welcome' },
      'Cache-Control': { schema: { type: 'string' }, example: 'no-store' },
    },
  })
  @ApiProblems('VALIDATION_FAILED', 'LINK_NOT_FOUND', 'PERK_NOT_FOUND', 'DEPENDENCY_UNAVAILABLE')
  async followJourneyClick(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    redirect(reply, await this.clicks.follow('journey', request));
  }
}
