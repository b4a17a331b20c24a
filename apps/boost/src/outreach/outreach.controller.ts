import { Controller, Get, Header, Param, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiProduces, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { AllowQueryKey, CurrentCaller, RequiredScope } from '@perkway/auth';
import { CALLER_ID_PATTERN, type Caller } from '@perkway/domain';
import { ApiProblems, CallerIdPipe, Direct, Public } from '@perkway/platform';
import { ApiTracked } from '@perkway/tracking';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClicksService, type Query } from '../clicks/clicks.service.js';
import { PIXEL, PIXEL_HEADERS } from './pixel-image.js';
import { PixelUrlsResource } from './pixel-urls.dto.js';
import { PixelUrlsService } from './pixel-urls.service.js';
import { PixelsService } from './pixels.service.js';
import { RewardUrlsService } from './reward-urls.service.js';

/** Not validated, because the pixel of an unknown campaign is an image, too. */
const ApiCampaign = () => ApiParam({ name: 'campaignId', schema: { type: 'string' } });
const ApiPixel = () =>
  ApiResponse({
    status: 200,
    description:
      'Always the image. Both pixels together count at most one view per second, campaign and source IP',
    headers: { 'Cache-Control': { schema: { type: 'string' }, example: 'no-store' } },
    content: {
      'image/png': {
        schema: { type: 'string', format: 'binary' },
        example: PIXEL.toString('base64'),
      },
    },
  });

interface PixelParams {
  campaignId: string;
}

@ApiTags('Outreach')
@RequiredScope('journeys:write')
@Controller('outreach')
export class OutreachController {
  constructor(
    private readonly rewardUrls: RewardUrlsService,
    private readonly pixelUrls: PixelUrlsService,
    private readonly clicks: ClicksService,
    private readonly pixels: PixelsService,
  ) {}

  @AllowQueryKey()
  @Get('campaign/:campaignId/reward-url')
  @ApiOperation({
    summary: 'Create a tracked URL for a perk of the campaign',
    description: 'The URL carries the parameters given here; the same parameters on a click take precedence.',
  })
  @ApiQuery({
    name: 'perkId',
    required: true,
    description: 'A perk of the campaign',
    schema: { type: 'string', pattern: CALLER_ID_PATTERN },
  })
  @ApiTracked()
  @ApiResponse({
    status: 200,
    description: 'The reward URL, as a JSON string',
    content: {
      'application/json': {
        schema: { type: 'string', format: 'uri' },
        example: 'https://boost.example.com/outreach/click?token=AQJrMVsi...',
      },
    },
  })
  @ApiProblems('PERK_IS_NOT_IN_CAMPAIGN', 'CAMPAIGN_NOT_FOUND')
  async generateRewardUrl(
    @CurrentCaller() caller: Caller,
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const url = await this.rewardUrls.make(caller, campaignId, request.query as Query);
    void reply
      .headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
      .send(JSON.stringify(url));
  }

  @AllowQueryKey()
  @Get('campaign/:campaignId/pixel-urls')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Get the URLs of both pixels of the campaign',
    description:
      'The URLs carry the parameters given here and can be used as the `src` of an image. Records nothing.',
  })
  @ApiTracked()
  @ApiResponse({ status: 200, description: 'The URLs', type: PixelUrlsResource })
  @ApiProblems('VALIDATION_FAILED', 'CAMPAIGN_NOT_FOUND')
  getPixelUrls(
    @CurrentCaller() caller: Caller,
    @Param('campaignId', CallerIdPipe) campaignId: string,
    @Req() request: FastifyRequest,
  ): Promise<PixelUrlsResource> {
    return this.pixelUrls.make(caller, campaignId, request.query as Query);
  }

  @Public()
  @Direct()
  @Get('click')
  @ApiOperation({
    summary: 'Record the click and redirect to the offer',
    description:
      'Every click counts. `HEAD` returns the same headers and records nothing. A browser gets errors as an HTML page.',
  })
  @ApiQuery({ name: 'token', required: true, description: 'The token from the reward URL' })
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
  registerOutreachClick(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> | void {
    return this.clicks.follow('outreach', request, reply);
  }

  @Public()
  @Direct()
  @Get('campaign/:campaignId/tracking-pixel/teaser')
  @ApiOperation({ summary: 'Record a teaser view' })
  @ApiProduces('image/png')
  @ApiCampaign()
  @ApiTracked()
  @ApiPixel()
  trackOutreachTeaserView(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.pixel('teaser_view', request, reply);
  }

  @Public()
  @Direct()
  @Get('campaign/:campaignId/tracking-pixel/reward')
  @ApiOperation({ summary: 'Record a reward view' })
  @ApiProduces('image/png')
  @ApiCampaign()
  @ApiTracked()
  @ApiPixel()
  trackOutreachRewardView(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.pixel('reward_view', request, reply);
  }

  private pixel(
    view: 'teaser_view' | 'reward_view',
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    return this.pixels
      .record(view, (request.params as PixelParams).campaignId, request)
      .then(() => void reply.headers(PIXEL_HEADERS).send(PIXEL));
  }
}
