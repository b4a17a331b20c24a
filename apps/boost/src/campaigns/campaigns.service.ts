import { Injectable } from '@nestjs/common';
import { AccountDirectory, PerkDirectory } from '@perkway/directory';
import { TRACKING_EVENT_VERSION } from '@perkway/domain';
import {
  listStored,
  lockRow,
  Pages,
  putStored,
  requireDeletable,
  requireFound,
  timesOf,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import { newEventId, TrackingService } from '@perkway/tracking';
import { DataSource, type EntityManager } from 'typeorm';
import { CampaignDirectory } from './campaign-directory.js';
import type { CampaignResource, PutCampaignDto } from './campaign.dto.js';
import { CampaignEntity } from './campaign.entity.js';
import type { Campaign } from './campaign.js';

const toResource = (campaign: CampaignEntity): CampaignResource => ({ ...campaign, ...timesOf(campaign) });

@Injectable()
export class CampaignsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
    private readonly accounts: AccountDirectory,
    private readonly perks: PerkDirectory,
    private readonly campaigns: CampaignDirectory,
    private readonly pages: Pages,
  ) {}

  /** By id, as `collate "C"` orders them. @throws DomainError VALIDATION_FAILED */
  list(query: ListQuery): Promise<Page<CampaignResource>> {
    return listStored<CampaignEntity, CampaignResource>(this.dataSource, this.pages, query, {
      name: 'campaigns',
      select: 'select * from campaigns',
      id: 'id collate "C"',
      search: ['id', 'name'],
      owner: 'owner',
      toItem: toResource,
    });
  }

  /** @throws DomainError CAMPAIGN_NOT_FOUND */
  async get(id: string): Promise<CampaignResource> {
    return requireFound(await this.find(this.dataSource.manager, id), 'CAMPAIGN_NOT_FOUND');
  }

  /**
   * Makes or replaces a campaign.
   * @throws DomainError PRECONDITION_FAILED, DEPENDENCY_UNAVAILABLE; VALIDATION_FAILED naming an unknown owner or
   * unknown perks. Those that the campaign has already may have been deleted since.
   */
  async put(
    id: string,
    { owner, name, incentives }: PutCampaignDto,
    ifMatch?: string,
  ): Promise<CampaignResource> {
    const wanted: Campaign = { id, owner, name, incentives };
    await this.accounts.require('owner', owner);
    const before = await this.find(this.dataSource.manager, id);
    await this.perks.requireAll(
      'incentives',
      incentives.filter((perk) => !before?.incentives.includes(perk)),
    );
    const stored = await this.dataSource.transaction(async (manager) => {
      await lockRow(manager, 'campaigns', id);
      return putStored<CampaignResource>(
        ifMatch,
        wanted,
        () => this.find(manager, id),
        async (times) => {
          await manager.upsert(CampaignEntity, { ...wanted, ...times }, ['id']);
          await this.trackName(manager, wanted);
        },
      );
    });
    this.campaigns.invalidate(id);
    return stored;
  }

  /** @throws DomainError CAMPAIGN_NOT_FOUND, PRECONDITION_FAILED */
  async delete(id: string, ifMatch?: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await lockRow(manager, 'campaigns', id);
      requireDeletable(ifMatch, await this.find(manager, id), 'CAMPAIGN_NOT_FOUND');
      await manager.delete(CampaignEntity, id);
    });
    this.campaigns.invalidate(id);
  }

  /** The analytics views show the name. */
  private async trackName(manager: EntityManager, { id, owner, name }: Campaign): Promise<void> {
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
  }

  private async find(manager: EntityManager, id: string): Promise<CampaignResource | undefined> {
    const campaign = await manager.findOneBy(CampaignEntity, { id });
    return campaign ? toResource(campaign) : undefined;
  }
}
