import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DomainError, type Caller } from '@perkway/domain';
import { Conditions, Pages, type ListQuery, type Page } from '@perkway/platform';
import { DataSource, Repository } from 'typeorm';
import type { OwnCampaignResource } from './campaign.dto.js';
import { CampaignEntity } from './campaign.entity.js';

/** What an account reads of its own campaigns. Of the database, so that it sees at once what was put. */
@Injectable()
export class OwnCampaignsService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(CampaignEntity) private readonly campaigns: Repository<CampaignEntity>,
    private readonly pages: Pages,
  ) {}

  /** By id, as `collate "C"` orders them: by their characters' codes. @throws DomainError VALIDATION_FAILED */
  async list({ account }: Caller, query: ListQuery): Promise<Page<OwnCampaignResource>> {
    const page = this.pages.ask<[id: string]>({ name: 'own-campaigns' }, query, account);
    const where = new Conditions().and`owner = ${account}`;
    if (page.after) where.and`id collate "C" > ${page.after[0]}`;
    const rows = await this.dataSource.query<CampaignEntity[]>(
      `select id, name, incentives, created_at, updated_at from campaigns
       where ${where} order by id collate "C" limit ${where.bind(page.rows)}`,
      where.parameters,
    );
    return page.answer(rows, ({ id }) => [id], toOwnCampaign);
  }

  /** @throws DomainError CAMPAIGN_NOT_FOUND, also for another account's */
  async get({ account }: Caller, id: string): Promise<OwnCampaignResource> {
    const campaign = await this.campaigns.findOneBy({ id, owner: account });
    if (!campaign) throw new DomainError('CAMPAIGN_NOT_FOUND');
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
