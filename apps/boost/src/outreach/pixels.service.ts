import { Inject, Injectable } from '@nestjs/common';
import {
  asTags,
  deriveJourneyId,
  isTrackingDisabled,
  readCustomAttributes,
  readJourneyId,
  TRACKING_EVENT_VERSION,
  type CampaignViewEvent,
} from '@perkway/domain';
import { clientIp, ENV } from '@perkway/platform';
import { classifyTraffic, TrackingService, type RequestHeaders } from '@perkway/tracking';
import type { FastifyRequest } from 'fastify';
import { createHmac } from 'node:crypto';
import { Counter, Registry } from 'prom-client';
import type { Campaign } from '../campaigns/campaign.js';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';
import type { Query } from '../clicks/clicks.service.js';
import type { BoostEnv } from '../env.js';
import { ViewBudget } from './view-budget.js';

/** How long a picture waits for a campaign that was never seen here. */
const CAMPAIGN_PATIENCE_MS = 300;
const ID_BYTES = 18;

/** What is kept of a request, which may have lost its connection by the time its campaign is known. */
interface PixelLoad {
  ip: string;
  query: Query;
  headers: RequestHeaders;
}

/** Counts pixel loads: at most one view per second, campaign and source IP (specification section 8). */
@Injectable()
export class PixelsService {
  private readonly budget = new ViewBudget();
  private readonly unresolved: Counter;

  constructor(
    @Inject(ENV) private readonly env: BoostEnv,
    private readonly campaigns: CampaignDirectory,
    private readonly tracking: TrackingService,
    @Inject(Registry) registry: Registry,
  ) {
    this.unresolved = new Counter({
      name: 'pixel_views_unresolved_total',
      help: 'Pixel loads that could not be counted: the database is away and the campaign was never seen here',
      registers: [registry],
    });
  }

  /**
   * Records a view unless its budget is spent, the campaign is unknown or tracking was refused. Never fails, and
   * resolves within well under a second; what it looks at is nobody's reason to withhold the image.
   */
  async record(type: CampaignViewEvent['type'], campaignId: string, request: FastifyRequest): Promise<void> {
    if (request.method === 'HEAD' || isTrackingDisabled((request.query as Query).disableTracking)) return;
    const load = { ip: clientIp(request), query: request.query as Query, headers: request.headers };
    const now = Date.now();
    const known = this.campaigns.peek(campaignId);
    if (known) return this.view(type, known, load, now);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, CAMPAIGN_PATIENCE_MS)));
    // Goes on in the background when the image has to leave first.
    const recorded = this.campaigns
      .find(campaignId)
      .then((campaign) => campaign && this.view(type, campaign, load, now))
      .catch(() => this.unresolved.inc());
    await Promise.race([recorded, patience]);
    clearTimeout(timer);
  }

  private view(
    type: CampaignViewEvent['type'],
    campaign: Campaign,
    { ip, query, headers }: PixelLoad,
    now: number,
  ): Promise<void> {
    const second = Math.floor(now / 1_000);
    return this.budget.once(second, `${campaign.id} ${ip}`, () => {
      const event: CampaignViewEvent = {
        v: TRACKING_EVENT_VERSION,
        type,
        id: this.viewId(campaign.id, ip, second),
        account: campaign.owner,
        // With the id the primary key of the event, so it is the start of the second and not the moment.
        at: second * 1_000,
        campaign: campaign.id,
        journey: readJourneyId(query.journeyId) ?? deriveJourneyId(campaign.id),
        channel: 'outreach',
        traffic: classifyTraffic(headers),
        ...asTags(readCustomAttributes(query)),
      };
      return this.tracking.track(event);
    });
  }

  /**
   * The identity of a view: the same on every replica and at every retry, so that the store counts it once. Keyed,
   * because addresses are few enough to be guessed from a plain hash.
   */
  private viewId(campaignId: string, ip: string, second: number): string {
    return createHmac('sha256', this.env.PIXEL_HASH_KEY)
      .update(`${campaignId}\n${ip}\n${second}`)
      .digest()
      .toString('base64url', 0, ID_BYTES);
  }
}
