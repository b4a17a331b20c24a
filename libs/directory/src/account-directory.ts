import { Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import {
  invalidField,
  RESOLVE_ACCOUNTS,
  RESOLVE_BRANDS,
  RESOLVE_ORIGINS,
  type Brand,
  type ResolvedAccount,
} from '@perkway/domain';
import { LOGGER, RefreshingCache, RpcClient } from '@perkway/platform';
import type { Logger } from 'pino';

/** The form of an `Origin` header; other values need no lookup. */
const ORIGIN = /^https?:\/\/[^\s/]{1,255}$/;
/** The same time as for API keys, because token-issuer owns both. */
const STALE_FOR_MS = 60_000;
const BRAND_REFRESH_MS = 10_000;
/** Long, because an outdated brand is better than none. */
const BRAND_STALE_FOR_MS = 24 * 60 * 60_000;
/** Short, because a recipient should not wait for a brand. */
const BRAND_TIMEOUT_MS = 250;

/** Caches data of accounts, which token-issuer owns. */
@Injectable()
export class AccountDirectory implements OnApplicationShutdown {
  private readonly accounts: RefreshingCache<ResolvedAccount>;
  private readonly origins: RefreshingCache<true>;
  private readonly brands: RefreshingCache<Brand | null>;

  constructor(
    private readonly rpc: RpcClient,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.accounts = new RefreshingCache<ResolvedAccount>({
      name: 'accounts',
      logger,
      load: (ids) => rpc.request(RESOLVE_ACCOUNTS, { ids }),
      staleForMs: STALE_FOR_MS,
    });
    this.origins = new RefreshingCache<true>({
      name: 'origins',
      logger,
      load: (ids) => rpc.request(RESOLVE_ORIGINS, { ids }),
      staleForMs: STALE_FOR_MS,
    });
    this.brands = new RefreshingCache<Brand | null>({
      name: 'brands',
      logger,
      load: (ids) => rpc.request(RESOLVE_BRANDS, { ids }, BRAND_TIMEOUT_MS),
      refreshMs: BRAND_REFRESH_MS,
      staleForMs: BRAND_STALE_FOR_MS,
    });
  }

  /**
   * Checks that the account exists. Asks the owner instead of the cache, so that a new account is found.
   * @throws ApiError VALIDATION_FAILED naming `field` if the account does not exist; DEPENDENCY_UNAVAILABLE
   */
  async require(field: string, id: string): Promise<void> {
    const known = await this.rpc.request(RESOLVE_ACCOUNTS, { ids: [id] });
    if (!Object.hasOwn(known, id)) throw invalidField(field, `must be an existing account; unknown: ${id}`);
  }

  /**
   * Returns the web sites that may call the account's customer journey and read its collections. @throws ApiError 503
   * if the account cannot be looked up
   */
  async allowedOrigins(id: string): Promise<readonly string[]> {
    return (await this.accounts.get(id))?.allowedOrigins ?? [];
  }

  /** Returns whether any account lists the web site. @throws ApiError 503 if it cannot be looked up */
  async isListedOrigin(origin: string): Promise<boolean> {
    return ORIGIN.test(origin) && (await this.origins.get(origin)) === true;
  }

  /** Returns the account's brand; null if it has none, or if none is cached and the owner is unavailable. */
  async brand(id: string): Promise<Brand | null> {
    return (await this.brands.get(id).catch(() => null)) ?? null;
  }

  onApplicationShutdown(): void {
    this.accounts.stop();
    this.origins.stop();
    this.brands.stop();
  }
}

@Module({ providers: [AccountDirectory], exports: [AccountDirectory] })
export class AccountDirectoryModule {}
