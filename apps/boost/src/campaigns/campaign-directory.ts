import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DomainError, isCallerId, unavailable, type Caller } from '@perkway/domain';
import { LOGGER, RefreshingCache } from '@perkway/platform';
import type { Logger } from 'pino';
import { Any, Repository } from 'typeorm';
import { CampaignEntity } from './campaign.entity.js';
import type { Campaign } from './campaign.js';

/** A database that hangs must not keep callers for as long as its own timeouts allow. */
const LOAD_TIMEOUT_MS = 2_000;

/** Campaigns, kept in this process so that clicks and pixels need the database only for what was never seen. */
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

  /** The caller's campaign. @throws DomainError CAMPAIGN_NOT_FOUND, also for another account's */
  async ofCaller(caller: Caller, id: string): Promise<Campaign> {
    const campaign = await this.find(id);
    if (campaign?.owner !== caller.account) throw new DomainError('CAMPAIGN_NOT_FOUND');
    return campaign;
  }

  /** A campaign of any account, if it is at hand. */
  peek(id: string): Campaign | undefined {
    return this.cache.peek(id);
  }

  /** A campaign of any account. Fails when the database is away and it was never seen here. */
  async find(id: string): Promise<Campaign | undefined> {
    return isCallerId(id) ? this.cache.get(id) : undefined;
  }

  /** Forgets a campaign that this process has just written. */
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
