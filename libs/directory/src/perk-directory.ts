import { Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import {
  invalidField,
  redirectTarget,
  RESOLVE_OFFERS,
  RESOLVE_PERKS,
  type ResolvedPerk,
} from '@perkway/domain';
import { LOGGER, RefreshingCache, RpcClient } from '@perkway/platform';
import type { Logger } from 'pino';

/**
 * The perks of the catalogue as this process knows them: an edit is in force within seconds, an absent owner is not
 * noticed. Where a perk leads is kept apart from its texts, because most who ask for one do not need the other.
 */
@Injectable()
export class PerkDirectory implements OnApplicationShutdown {
  private readonly targets: RefreshingCache<string>;
  private readonly perks: RefreshingCache<ResolvedPerk>;

  constructor(
    private readonly rpc: RpcClient,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.targets = new RefreshingCache<string>({
      name: 'offers',
      logger,
      load: async (ids) => onlyTargets(await rpc.ask(RESOLVE_OFFERS, { ids })),
      staleForMs: Infinity,
    });
    this.perks = new RefreshingCache<ResolvedPerk>({
      name: 'perks',
      logger,
      load: (ids) => rpc.ask(RESOLVE_PERKS, { ids }),
      staleForMs: Infinity,
    });
  }

  /** Where a click leads, if that is at hand. */
  peekTarget(id: string): string | undefined {
    return this.targets.peek(id);
  }

  /**
   * Where a click leads; undefined when the perk does not exist or leads nowhere that may be redirected to.
   * @throws DomainError 503 when the owner is away and the perk was never seen here
   */
  findTarget(id: string): Promise<string | undefined> {
    return this.targets.get(id);
  }

  /** How a perk is shown, if that is at hand. */
  peek(id: string): ResolvedPerk | undefined {
    return this.perks.peek(id);
  }

  /** How a perk is shown. @throws DomainError 503 when the owner is away and the perk was never seen here */
  find(id: string): Promise<ResolvedPerk | undefined> {
    return this.perks.get(id);
  }

  /**
   * Asks the owner itself: a perk that was made a moment ago exists.
   * @throws DomainError VALIDATION_FAILED naming `field` and the perks that do not exist; DEPENDENCY_UNAVAILABLE
   */
  async requireAll(field: string, ids: string[]): Promise<void> {
    const known = await this.rpc.ask(RESOLVE_OFFERS, { ids });
    const unknown = ids.filter((id) => !Object.hasOwn(known, id));
    if (unknown.length > 0)
      throw invalidField(field, `must be existing perks, and these are none: ${unknown.join(', ')}`);
  }

  onApplicationShutdown(): void {
    this.targets.stop();
    this.perks.stop();
  }
}

/** The owner answers nothing else; but this is what stands between us and an open redirect. */
function onlyTargets(offers: Record<string, string>): Record<string, string> {
  const targets: Record<string, string> = Object.create(null);
  for (const [id, url] of Object.entries(offers)) {
    const target = redirectTarget(url);
    if (target !== undefined) targets[id] = target;
  }
  return targets;
}

@Module({ providers: [PerkDirectory], exports: [PerkDirectory] })
export class PerkDirectoryModule {}
