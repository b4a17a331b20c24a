import { Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import {
  invalidField,
  RESOLVE_ACCOUNTS,
  RESOLVE_BRANDS,
  type Brand,
  type ResolvedAccount,
} from '@perkway/domain';
import { LOGGER, RefreshingCache, RpcClient } from '@perkway/platform';
import type { Logger } from 'pino';

/** As long as a key is believed while the owner of both is away. */
const STALE_FOR_MS = 60_000;
const BRAND_REFRESH_MS = 10_000;
/** An old brand is better than none. */
const BRAND_STALE_FOR_MS = 24 * 60 * 60_000;
/** The recipient waits for the card, not for its decoration. */
const BRAND_PATIENCE_MS = 250;

/** What the apps know of accounts, all of which token-issuer owns. */
@Injectable()
export class AccountDirectory implements OnApplicationShutdown {
  private readonly accounts: RefreshingCache<ResolvedAccount>;
  private readonly brands: RefreshingCache<Brand | null>;

  constructor(
    private readonly rpc: RpcClient,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.accounts = new RefreshingCache<ResolvedAccount>({
      name: 'accounts',
      logger,
      load: (ids) => rpc.ask(RESOLVE_ACCOUNTS, { ids }),
      staleForMs: STALE_FOR_MS,
    });
    this.brands = new RefreshingCache<Brand | null>({
      name: 'brands',
      logger,
      load: (ids) => rpc.ask(RESOLVE_BRANDS, { ids }, BRAND_PATIENCE_MS),
      refreshMs: BRAND_REFRESH_MS,
      staleForMs: BRAND_STALE_FOR_MS,
    });
  }

  /**
   * Asks the owner itself: an account that was made a moment ago exists.
   * @throws DomainError VALIDATION_FAILED naming `field` for an account that does not exist; DEPENDENCY_UNAVAILABLE
   */
  async require(field: string, id: string): Promise<void> {
    const known = await this.rpc.ask(RESOLVE_ACCOUNTS, { ids: [id] });
    if (!Object.hasOwn(known, id)) throw invalidField(field, `must be an existing account: ${id} is unknown`);
  }

  /** Web sites that may call the customer journey of the account. @throws DomainError 503 while that cannot be known */
  async allowedOrigins(id: string): Promise<readonly string[]> {
    return (await this.accounts.get(id))?.allowedOrigins ?? [];
  }

  /** How the account shows itself to recipients. Best effort: null while the owner is away and nothing is known. */
  async brand(id: string): Promise<Brand | null> {
    return (await this.brands.get(id).catch(() => null)) ?? null;
  }

  onApplicationShutdown(): void {
    this.accounts.stop();
    this.brands.stop();
  }
}

@Module({ providers: [AccountDirectory], exports: [AccountDirectory] })
export class AccountDirectoryModule {}
