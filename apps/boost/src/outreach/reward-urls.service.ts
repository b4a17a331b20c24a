import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  invalidField,
  isTrackingDisabled,
  lastOf,
  readCustomAttributes,
  readJourneyId,
  type Caller,
} from '@perkway/domain';
import { ENV, requireCallerId } from '@perkway/platform';
import { signOutreachToken } from '@perkway/signing';
import { PerkDirectory } from '@perkway/directory';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';
import type { Query } from '../clicks/clicks.service.js';
import type { BoostEnv } from '../env.js';
import { requireUsableLength } from './url-length.js';

@Injectable()
export class RewardUrlsService {
  constructor(
    @Inject(ENV) private readonly env: BoostEnv,
    private readonly campaigns: CampaignDirectory,
    private readonly perks: PerkDirectory,
  ) {}

  /**
   * Returns the tracked URL of a perk in a campaign. It carries the given attributes, journey and `disableTracking`;
   * query parameters of the click override them.
   *
   * @throws ApiError VALIDATION_FAILED, CAMPAIGN_NOT_FOUND, PERK_IS_NOT_IN_CAMPAIGN
   */
  async make(caller: Caller, campaignId: string, query: Query): Promise<string> {
    const given = lastOf(query.perkId);
    if (given === undefined || given === '') throw invalidField('perkId', 'is missing');
    const perk = requireCallerId(given, 'perkId');
    const campaign = await this.campaigns.ofCaller(caller, campaignId);
    if (!campaign.incentives.includes(perk) || !(await this.hasOffer(perk)))
      throw new ApiError('PERK_IS_NOT_IN_CAMPAIGN');
    const token = signOutreachToken(this.env.OUTREACH_SIGNING_KEYS, 'outreach-click', {
      account: campaign.owner,
      campaign: campaign.id,
      perk,
      journey: readJourneyId(query.journeyId),
      attributes: readCustomAttributes(query),
      disableTracking: isTrackingDisabled(query.disableTracking),
    });
    return requireUsableLength(`${this.env.BOOST_URL}/outreach/click?token=${token}`);
  }

  /**
   * Returns false if the perk was deleted or has no valid offer URL. Returns true if the catalogue is unavailable and
   * the perk is not cached.
   */
  private async hasOffer(perk: string): Promise<boolean> {
    if (this.perks.peekTarget(perk) !== undefined) return true;
    try {
      return (await this.perks.findTarget(perk)) !== undefined;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'DEPENDENCY_UNAVAILABLE') return true;
      throw error;
    }
  }
}
