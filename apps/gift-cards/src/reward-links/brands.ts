import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import {
  MAX_BRANDS,
  SUBJECTS,
  type Brand,
  type ResolveAccountsReply,
  type ResolvedAccount,
} from '@perkway/domain';
import { LOGGER, RefreshingCache, RpcClient } from '@perkway/platform';
import type { Logger } from 'pino';

const REFRESH_MS = 10_000;
/** An old brand is better than none. */
const STALE_FOR_MS = 24 * 60 * 60_000;
/** The recipient waits for the card, not for its decoration. */
const PATIENCE_MS = 250;

/** How accounts show themselves to recipients. Best effort: null while token-issuer is away and nothing is known. */
@Injectable()
export class Brands implements OnModuleDestroy {
  private readonly cache: RefreshingCache<ResolvedAccount>;

  constructor(rpc: RpcClient, @Inject(LOGGER) logger: Logger) {
    this.cache = new RefreshingCache<ResolvedAccount>({
      name: 'brands',
      logger,
      load: async (ids) =>
        (
          await rpc.request<ResolveAccountsReply>(
            SUBJECTS.resolveAccounts,
            { ids, withBrand: true },
            'The account service',
            PATIENCE_MS,
          )
        ).accounts,
      refreshMs: REFRESH_MS,
      staleForMs: STALE_FOR_MS,
      batch: MAX_BRANDS,
    });
  }

  async of(account: string): Promise<Brand | null> {
    try {
      const found = await this.cache.get(account);
      return found?.brand ?? null;
    } catch {
      return null;
    }
  }

  onModuleDestroy() {
    this.cache.stop();
  }
}
