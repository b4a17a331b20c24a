import { Body, Controller, Get, Header, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { AllowQueryKey, CurrentCaller, RequiredScope, Roles } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import {
  ApiLanguage,
  ApiProblems,
  CallerIdPipe,
  Direct,
  languagePreferenceOf,
  Public,
} from '@perkway/platform';
import { ApiTracked } from '@perkway/tracking';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClicksService, type Query } from '../clicks/clicks.service.js';
import { RewardsResource, TeasersResource, TrackDto, TrackedResource } from './journey.dto.js';
import { JourneyService } from './journey.service.js';
import { LANGUAGE_HEADERS, setContentLanguage } from './language.js';

@ApiTags('Customer journey')
@Roles('USER', 'ADMIN', 'JOURNEY')
@RequiredScope('journeys:write')
@Controller()
export class JourneyController {
  constructor(
    private readonly journey: JourneyService,
    private readonly clicks: ClicksService,
  ) {}

  @AllowQueryKey()
  @Get('teasers/:campaignId')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Get the perks of a campaign, without links',
    description: 'Records nothing; report views with a pixel or `POST /track`.',
  })
  @ApiTracked()
  @ApiLanguage()
  @ApiResponse({
    status: 200,
    description: 'The perks',
    type: TeasersResource,
    headers: LANGUAGE_HEADERS,
  })
  @ApiProblems('CAMPAIGN_NOT_FOUND')
  async getTeasers(
    @CurrentCaller() caller: Caller,
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TeasersResource> {
    const query = request.query as Query;
    const { language, body } = await this.journey.teasers(
      caller,
      campaignId,
      query,
      languagePreferenceOf(request),
    );
    setContentLanguage(reply, language);
    return body;
  }

  @AllowQueryKey()
  @Get('rewards/:campaignId')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Get the perks of a campaign, with links',
    description: 'Records nothing. Each `click_url` carries the journey and the attributes of this request.',
  })
  @ApiTracked()
  @ApiLanguage()
  @ApiResponse({
    status: 200,
    description: 'The perks, with links',
    type: RewardsResource,
    headers: LANGUAGE_HEADERS,
  })
  @ApiProblems('CAMPAIGN_NOT_FOUND')
  async getRewards(
    @CurrentCaller() caller: Caller,
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RewardsResource> {
    const query = request.query as Query;
    const { language, body } = await this.journey.rewards(
      caller,
      campaignId,
      query,
      languagePreferenceOf(request),
    );
    setContentLanguage(reply, language);
    return body;
  }

  @AllowQueryKey()
  @Post('track/:campaignId')
  @HttpCode(202)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Record a view or a conversion',
    description:
      'A conversion is not attributed to a click: it counts for the campaign, the journey and the perk of this request, even if the journey never clicked. Its source and attributes are those of this request too, so send the `utm_*` and `cmeta_*` of the message again.',
  })
  @ApiTracked()
  @ApiResponse({ status: 202, description: 'The event is stored durably', type: TrackedResource })
  @ApiProblems('PERK_IS_NOT_IN_CAMPAIGN', 'CAMPAIGN_NOT_FOUND')
  async trackJourneyEvent(
    @CurrentCaller() caller: Caller,
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Req() request: FastifyRequest,
    @Body() body: TrackDto,
  ): Promise<TrackedResource> {
    return { journeyId: await this.journey.track(caller, campaignId, request, body) };
  }

  @Public()
  @Direct()
  @Get('click')
  @ApiOperation({
    summary: 'Record the click and redirect to the offer',
    description:
      'Every click counts. `HEAD` returns the same headers and records nothing. A browser gets errors as an HTML page.',
  })
  @ApiQuery({ name: 'token', required: true, description: 'The token from a click_url' })
  @ApiTracked()
  @ApiResponse({
    status: 302,
    description: 'Redirect to the current offer of the perk',
    headers: {
      Location: { schema: { type: 'string', format: 'uri' }, example: 'https://shop.example/welcome' },
      'Cache-Control': { schema: { type: 'string' }, example: 'no-store' },
    },
  })
  @ApiProblems('VALIDATION_FAILED', 'LINK_NOT_FOUND', 'PERK_NOT_FOUND', 'DEPENDENCY_UNAVAILABLE')
  followJourneyClick(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> | void {
    return this.clicks.follow('journey', request, reply);
  }
}
