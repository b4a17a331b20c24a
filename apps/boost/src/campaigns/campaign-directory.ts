import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ApiError, isCallerId, unavailable, type Caller } from '@perkway/domain';
import { LOGGER, RefreshingCache } from '@perkway/platform';
import type { Logger } from 'pino';
import { Any, Repository } from 'typeorm';
import { CampaignEntity } from './campaign.entity.js';
import type { Campaign } from './campaign.js';

/** Shorter than the database's own timeouts, so that callers do not wait for a hanging database. */
const LOAD_TIMEOUT_MS = 2_000;

/** Caches campaigns in this process, so that requests need the database only for campaigns that it has not seen. */
@Injectable()
export class CampaignDirectory implements OnApplicationShutdown {
  private readonly cache: RefreshingCache<Campaign>;

  constructor(
    @InjectRepository(CampaignEntity) private readonly campaigns: Repository<CampaignEntity>,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.cache = new RefreshingCache<Campaign>({
      name: 'campaigns',
      logger,
      load: (ids) => this.load(ids),
      staleForMs: Infinity,
    });
  }

  /** Returns the caller's campaign. @throws ApiError CAMPAIGN_NOT_FOUND, also for another account's campaign */
  async ofCaller(caller: Caller, id: string): Promise<Campaign> {
    const campaign = await this.find(id);
    if (campaign?.owner !== caller.account) throw new ApiError('CAMPAIGN_NOT_FOUND');
    return campaign;
  }

  /** Returns a campaign of any account if it is cached and fresh. */
  peek(id: string): Campaign | undefined {
    return this.cache.peek(id);
  }

  /** Returns a campaign of any account. Fails if it is not cached and the database is unavailable. */
  async find(id: string): Promise<Campaign | undefined> {
    return isCallerId(id) ? this.cache.get(id) : undefined;
  }

  /** Drops from the cache a campaign that this process has just written. */
  invalidate(id: string): void {
    this.cache.invalidate(id);
  }

  onApplicationShutdown(): void {
    this.cache.stop();
  }

  private async load(ids: string[]): Promise<Record<string, Campaign>> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unavailable('The database')), LOAD_TIMEOUT_MS);
    });
    try {
      const campaigns = await Promise.race([this.campaigns.findBy({ id: Any(ids) }), tooLate]);
      return Object.fromEntries(campaigns.map((campaign) => [campaign.id, campaign]));
    } finally {
      clearTimeout(timer);
    }
  }
}
