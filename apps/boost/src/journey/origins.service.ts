import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SUBJECTS, type ResolveAccountsReply } from '@perkway/domain';
import { LOGGER, RefreshingCache, RpcClient } from '@perkway/platform';
import type { Logger } from 'pino';
import { CampaignsService } from '../campaigns/campaigns.service.js';

/** As long as a key is believed while the owner of both is away. */
const STALE_FOR_MS = 60_000;

/** Which web sites may call the customer journey of a campaign: those that its account lists. */
@Injectable()
export class OriginsService implements OnApplicationShutdown {
  private readonly cache: RefreshingCache<readonly string[]>;

  constructor(
    rpc: RpcClient,
    private readonly campaigns: CampaignsService,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.cache = new RefreshingCache<readonly string[]>({
      name: 'origins',
      logger,
      staleForMs: STALE_FOR_MS,
      batch: 100,
      load: async (ids) => {
        const { accounts } = await rpc.request<ResolveAccountsReply>(
          SUBJECTS.resolveAccounts,
          { ids },
          'The account service',
        );
        return Object.fromEntries(
          Object.entries(accounts).map(([id, { allowedOrigins }]) => [id, allowedOrigins]),
        );
      },
    });
  }

  /** False also while it cannot be found out. */
  async isAllowed(campaignId: string, origin: string): Promise<boolean> {
    try {
      const campaign = await this.campaigns.find(campaignId);
      return campaign !== undefined && ((await this.cache.get(campaign.owner))?.includes(origin) ?? false);
    } catch {
      return false;
    }
  }

  onApplicationShutdown(): void {
    this.cache.stop();
  }
}
