import { Injectable } from '@nestjs/common';
import { AccountDirectory, PerkDirectory } from '@perkway/directory';
import { TRACKING_EVENT_VERSION } from '@perkway/domain';
import {
  idFilterOf,
  listResources,
  lockRow,
  KeysetPaginator,
  upsertResource,
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
    private readonly pages: KeysetPaginator,
  ) {}

  /** Lists campaigns by id, in the order of `collate "C"`. @throws ApiError VALIDATION_FAILED */
  list(query: ListQuery): Promise<Page<CampaignResource>> {
    const perk = idFilterOf(query, 'perk_id');
    return listResources<CampaignEntity, CampaignResource>(this.dataSource, this.pages, query, {
      name: 'campaigns',
      select: 'select * from campaigns',
      id: 'id collate "C"',
      search: ['id', 'name'],
      owner: 'owner',
      filter: (where) => perk !== undefined && where.and`${perk} = any(incentives)`,
      toItem: toResource,
    });
  }

  /** @throws ApiError CAMPAIGN_NOT_FOUND */
  async get(id: string): Promise<CampaignResource> {
    return requireFound(await this.find(this.dataSource.manager, id), 'CAMPAIGN_NOT_FOUND');
  }

  /**
   * Creates or replaces a campaign.
   * @throws ApiError PRECONDITION_FAILED, DEPENDENCY_UNAVAILABLE; VALIDATION_FAILED naming an unknown owner or
   * unknown perks. Perks that the campaign already contains may have been deleted since.
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
      return upsertResource<CampaignResource>(
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

  /** @throws ApiError CAMPAIGN_NOT_FOUND, PRECONDITION_FAILED */
  async delete(id: string, ifMatch?: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await lockRow(manager, 'campaigns', id);
      requireDeletable(ifMatch, await this.find(manager, id), 'CAMPAIGN_NOT_FOUND');
      await manager.delete(CampaignEntity, id);
    });
    this.campaigns.invalidate(id);
  }

  /** Publishes the name, which the analytics views show. */
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
