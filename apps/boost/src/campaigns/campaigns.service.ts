import { Injectable } from '@nestjs/common';
import { AccountDirectory, PerkDirectory } from '@perkway/directory';
import { TRACKING_EVENT_VERSION } from '@perkway/domain';
import { newEventId, TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';
import { CampaignDirectory } from './campaign-directory.js';
import type { PutCampaignDto } from './campaign.dto.js';
import { CampaignEntity } from './campaign.entity.js';
import type { Campaign } from './campaign.js';

@Injectable()
export class CampaignsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
    private readonly accounts: AccountDirectory,
    private readonly perks: PerkDirectory,
    private readonly campaigns: CampaignDirectory,
  ) {}

  /**
   * Makes or replaces a campaign.
   * @throws DomainError VALIDATION_FAILED naming an unknown owner or unknown perks; DEPENDENCY_UNAVAILABLE
   */
  async put(id: string, { owner, name, incentives }: PutCampaignDto): Promise<Campaign> {
    await this.accounts.require('owner', owner);
    await this.perks.requireAll('incentives', incentives);
    await this.dataSource.transaction(async (manager) => {
      await manager.upsert(CampaignEntity, { id, owner, name, incentives }, ['id']);
      await this.tracking.trackInTransaction(manager, [
        {
          v: TRACKING_EVENT_VERSION,
          type: 'campaign_named',
          id: newEventId(),
          account: owner,
          at: Date.now(),
          campaign: id,
          name,
        },
      ]);
    });
    this.campaigns.invalidate(id);
    return { id, owner, name, incentives };
  }
}
