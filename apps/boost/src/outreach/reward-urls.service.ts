import { Inject, Injectable } from '@nestjs/common';
import {
  DomainError,
  invalidField,
  isTrackingDisabled,
  lastOf,
  readCustomAttributes,
  readJourneyId,
  type Caller,
} from '@perkway/domain';
import { ENV, requireCallerId } from '@perkway/platform';
import { signOutreachToken } from '@perkway/signing';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';
import type { Query } from '../clicks/clicks.service.js';
import type { BoostEnv } from '../env.js';
import { requireUsableLength } from './url-length.js';

@Injectable()
export class RewardUrlsService {
  constructor(
    @Inject(ENV) private readonly env: BoostEnv,
    private readonly campaigns: CampaignDirectory,
  ) {}

  /**
   * The tracked URL of a perk in a campaign. Attributes, journey and `disableTracking` given here travel in it; a
   * click's own parameters win over them.
   * @throws DomainError VALIDATION_FAILED, CAMPAIGN_NOT_FOUND, PERK_IS_NOT_IN_CAMPAIGN
   */
  async make(caller: Caller, campaignId: string, query: Query): Promise<string> {
    const given = lastOf(query.perkId);
    if (given === undefined || given === '') throw invalidField('perkId', 'is missing');
    const perk = requireCallerId(given, 'perkId');
    const campaign = await this.campaigns.ofCaller(caller, campaignId);
    if (!campaign.incentives.includes(perk)) throw new DomainError('PERK_IS_NOT_IN_CAMPAIGN');
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
}
