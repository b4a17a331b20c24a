import { Injectable } from '@nestjs/common';
import { AccountDirectory } from '@perkway/directory';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';

/** Which web sites may call the customer journey of a campaign: those that its account lists. */
@Injectable()
export class OriginsService {
  constructor(
    private readonly accounts: AccountDirectory,
    private readonly campaigns: CampaignDirectory,
  ) {}

  /** False also while it cannot be found out. */
  async isAllowed(campaignId: string, origin: string): Promise<boolean> {
    try {
      const campaign = await this.campaigns.find(campaignId);
      return campaign !== undefined && (await this.accounts.allowedOrigins(campaign.owner)).includes(origin);
    } catch {
      return false;
    }
  }
}
