import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ApiError, type Caller } from '@perkway/domain';
import { Conditions, KeysetPaginator, type ListQuery, type Page } from '@perkway/platform';
import { DataSource, Repository } from 'typeorm';
import type { OwnCampaignResource } from './campaign.dto.js';
import { CampaignEntity } from './campaign.entity.js';

/** Reads an account's own campaigns. Reads from the database, so that a PUT is visible at once. */
@Injectable()
export class OwnCampaignsService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(CampaignEntity) private readonly campaigns: Repository<CampaignEntity>,
    private readonly pages: KeysetPaginator,
  ) {}

  /** Lists campaigns by id, in the order of `collate "C"`: by code point. @throws ApiError VALIDATION_FAILED */
  async list({ account }: Caller, query: ListQuery): Promise<Page<OwnCampaignResource>> {
    const page = this.pages.request<[id: string]>({ name: 'own-campaigns' }, query, account);
    const where = new Conditions().and`owner = ${account}`;
    if (page.after) where.and`id collate "C" > ${page.after[0]}`;
    const rows = await this.dataSource.query<CampaignEntity[]>(
      `select id, name, incentives, created_at, updated_at from campaigns
       where ${where} order by id collate "C" limit ${where.bind(page.rows)}`,
      where.parameters,
    );
    return page.respond(rows, ({ id }) => [id], toOwnCampaign);
  }

  /** @throws ApiError CAMPAIGN_NOT_FOUND, also for another account's campaign */
  async get({ account }: Caller, id: string): Promise<OwnCampaignResource> {
    const campaign = await this.campaigns.findOneBy({ id, owner: account });
    if (!campaign) throw new ApiError('CAMPAIGN_NOT_FOUND');
    return toOwnCampaign(campaign);
  }
}

const toOwnCampaign = ({
  id,
  name,
  incentives,
  created_at,
  updated_at,
}: CampaignEntity): OwnCampaignResource => ({
  id,
  name,
  incentives,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
