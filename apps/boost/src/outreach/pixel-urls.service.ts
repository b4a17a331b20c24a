import { Inject, Injectable } from '@nestjs/common';
import { appendAttributes, lastOf, readCustomAttributes, readJourneyId, type Caller } from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';
import type { Query } from '../clicks/clicks.service.js';
import type { BoostEnv } from '../env.js';
import { requireUsableLength } from './url-length.js';
import type { PixelUrlsResource } from './pixel-urls.dto.js';

@Injectable()
export class PixelUrlsService {
  constructor(
    @Inject(ENV) private readonly env: BoostEnv,
    private readonly campaigns: CampaignDirectory,
  ) {}

  /**
   * Returns the URLs of both pixels with the given journey, attributes and `disableTracking`. Leaves out an invalid
   * journey and invalid attributes, which a pixel would ignore. Records nothing.
   * @throws ApiError VALIDATION_FAILED, CAMPAIGN_NOT_FOUND
   */
  async make(caller: Caller, campaignId: string, query: Query): Promise<PixelUrlsResource> {
    const { id } = await this.campaigns.ofCaller(caller, campaignId);
    const params = new URLSearchParams();
    const journeyId = readJourneyId(query.journeyId);
    if (journeyId !== undefined) params.append('journeyId', journeyId);
    appendAttributes(params, readCustomAttributes(query));
    const disableTracking: unknown = lastOf(query.disableTracking);
    if (typeof disableTracking === 'string') params.append('disableTracking', disableTracking);
    const carried = params.size > 0 ? `?${params.toString()}` : '';
    const address = (pixel: 'teaser' | 'reward') =>
      requireUsableLength(`${this.env.BOOST_URL}/outreach/campaign/${id}/tracking-pixel/${pixel}${carried}`);
    return { teaser: address('teaser'), reward: address('reward') };
  }
}
