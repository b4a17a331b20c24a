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
      load: (keys) => this.load(keys),
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

  /**
   * How a perk is shown, if that is at hand.
   * @param language in canonical form, one that the perk has; the catalogue's default if left out
   */
  peek(id: string, language = ''): ResolvedPerk | undefined {
    return this.perks.peek(`${language} ${id}`);
  }

  /** As `peek`. @throws DomainError 503 when the owner is away and the perk was never seen here in that language */
  find(id: string, language = ''): Promise<ResolvedPerk | undefined> {
    return this.perks.get(`${language} ${id}`);
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

  /** Keys are language and id, neither of which has a space in it. */
  private async load(keys: string[]): Promise<Record<string, ResolvedPerk>> {
    const found: Record<string, ResolvedPerk> = Object.create(null);
    const languages = new Map<string, string[]>();
    for (const key of keys) {
      const language = key.slice(0, key.indexOf(' '));
      const known = languages.get(language);
      if (known) known.push(key);
      else languages.set(language, [key]);
    }
    const load = async ([language, known]: [string, string[]]) => {
      const ids = known.map((key) => key.slice(language.length + 1));
      const perks = await this.rpc.ask(RESOLVE_PERKS, { ids, ...(language && { language }) });
      for (const [id, perk] of Object.entries(perks)) found[`${language} ${id}`] = perk;
    };
    await Promise.all([...languages].map(load));
    return found;
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
