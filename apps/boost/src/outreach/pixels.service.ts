import { Injectable } from '@nestjs/common';
import { deriveJourneyId, isTrackingDisabled, readJourneyId, type CampaignViewEvent } from '@perkway/domain';
import type { FastifyRequest } from 'fastify';
import { Counter, Registry } from 'prom-client';
import type { Campaign } from '../campaigns/campaign.js';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';
import type { Query } from '../clicks/clicks.service.js';
import { CampaignViewsService, viewRequestOf, type ViewRequest } from '../views/campaign-views.service.js';

/** How long the image waits for a campaign that is not cached. */
const CAMPAIGN_TIMEOUT_MS = 300;
@Injectable()
export class PixelsService {
  private readonly unresolved: Counter;

  constructor(
    private readonly campaigns: CampaignDirectory,
    private readonly views: CampaignViewsService,
    registry: Registry,
  ) {
    this.unresolved = new Counter({
      name: 'pixel_views_unresolved_total',
      help: 'Pixel loads not counted because the database was unavailable and the campaign was not cached',
      registers: [registry],
    });
  }

  /**
   * Records a view unless this second's view is already counted, the campaign is unknown or cannot be read, tracking is
   * disabled, or the method is HEAD. Never fails, and resolves well within a second, so that the image is always sent.
   */
  record(type: CampaignViewEvent['type'], campaignId: string, request: FastifyRequest): Promise<void> {
    if (request.method === 'HEAD' || isTrackingDisabled((request.query as Query).disableTracking))
      return Promise.resolve();
    const load = viewRequestOf(request);
    const known = this.campaigns.peek(campaignId);
    return known ? this.view(type, known, load) : this.findAndView(type, campaignId, load);
  }

  private async findAndView(
    type: CampaignViewEvent['type'],
    campaignId: string,
    load: ViewRequest,
  ): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, CAMPAIGN_TIMEOUT_MS)));
    // Continues in the background if the image has to be sent first.
    const recorded = this.campaigns
      .find(campaignId)
      .then((campaign) => campaign && this.view(type, campaign, load))
      .catch(() => this.unresolved.inc());
    await Promise.race([recorded, timeout]);
    clearTimeout(timer);
  }

  private view(type: CampaignViewEvent['type'], campaign: Campaign, load: ViewRequest): Promise<void> {
    const journey = readJourneyId(load.query.journeyId) ?? deriveJourneyId(campaign.id);
    return this.views.record(campaign, load, { type, journey, channel: 'outreach' });
  }
}
