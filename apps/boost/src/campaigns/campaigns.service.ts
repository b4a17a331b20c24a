import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AccountDirectory, PerkDirectory } from '@perkway/directory';
import { DomainError, isCallerId, TRACKING_EVENT_VERSION, unavailable, type Caller } from '@perkway/domain';
import { LOGGER, RefreshingCache } from '@perkway/platform';
import { newEventId, TrackingService } from '@perkway/tracking';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import type { PutCampaignDto } from './campaign.dto.js';
import type { Campaign } from './campaign.js';

const PUT = `
  insert into campaigns (id, owner, name, incentives) values ($1, $2, $3, $4)
  on conflict (id) do update
  set owner = excluded.owner, name = excluded.name, incentives = excluded.incentives, updated_at = now()`;
const FIND = 'select id, owner, name, incentives from campaigns where id = any($1)';

/** A database that hangs must not keep callers for as long as its own timeouts allow. */
const LOAD_TIMEOUT_MS = 2_000;

/** Campaigns, kept in this process so that clicks and pixels need the database only for what was never seen. */
@Injectable()
export class CampaignsService implements OnApplicationShutdown {
  private readonly cache: RefreshingCache<Campaign>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
    private readonly accounts: AccountDirectory,
    private readonly perks: PerkDirectory,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.cache = new RefreshingCache<Campaign>({
      name: 'campaigns',
      logger,
      load: (ids) => this.load(ids),
      staleForMs: Infinity,
    });
  }

  /**
   * Makes or replaces a campaign.
   * @throws DomainError VALIDATION_FAILED naming an unknown owner or unknown perks; DEPENDENCY_UNAVAILABLE
   */
  async put(id: string, { owner, name, incentives }: PutCampaignDto): Promise<Campaign> {
    await this.accounts.require('owner', owner);
    await this.perks.requireAll('incentives', incentives);
    await this.dataSource.transaction(async (manager) => {
      await manager.query(PUT, [id, owner, name, incentives]);
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
    this.cache.invalidate(id);
    return { id, owner, name, incentives };
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

  onApplicationShutdown(): void {
    this.cache.stop();
  }

  private async load(ids: string[]): Promise<Record<string, Campaign>> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unavailable('The database')), LOAD_TIMEOUT_MS);
    });
    try {
      const rows = await Promise.race([this.dataSource.query<Campaign[]>(FIND, [ids]), tooLate]);
      return Object.fromEntries(rows.map((campaign) => [campaign.id, campaign]));
    } finally {
      clearTimeout(timer);
    }
  }
}
