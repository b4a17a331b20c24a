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
 * Caches perks of the catalogue: edits take effect within seconds, and cached perks stay available while their owner is
 * down. Targets and texts are cached separately, because most callers need only one of them.
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
      load: async (ids) => onlyTargets(await rpc.request(RESOLVE_OFFERS, { ids })),
      staleForMs: Infinity,
    });
    this.perks = new RefreshingCache<ResolvedPerk>({
      name: 'perks',
      logger,
      load: (keys) => this.load(keys),
      staleForMs: Infinity,
    });
  }

  /** Returns the target of a click, if a fresh one is in the cache. */
  peekTarget(id: string): string | undefined {
    return this.targets.peek(id);
  }

  /**
   * Returns the target of a click; undefined if the perk does not exist or has no allowed redirect target.
   * @throws ApiError 503 if the perk is not in the cache and the owner is unavailable
   */
  findTarget(id: string): Promise<string | undefined> {
    return this.targets.get(id);
  }

  /**
   * Returns the texts and media of a perk, if fresh ones are in the cache.
   * @param language in canonical form, one that the perk has; default: the catalogue's default language
   */
  peek(id: string, language = ''): ResolvedPerk | undefined {
    return this.perks.peek(`${language} ${id}`);
  }

  /**
   * Like `peek`, but loads the perk. @throws ApiError 503 if it is not in the cache in that language and the owner is
   * unavailable
   */
  find(id: string, language = ''): Promise<ResolvedPerk | undefined> {
    return this.perks.get(`${language} ${id}`);
  }

  /**
   * Checks that the perks exist. Asks the owner instead of the cache, so that new perks are found.
   * @throws ApiError VALIDATION_FAILED naming `field` and the unknown perks; DEPENDENCY_UNAVAILABLE
   */
  async requireAll(field: string, ids: string[]): Promise<void> {
    const known = await this.rpc.request(RESOLVE_OFFERS, { ids });
    const unknown = ids.filter((id) => !Object.hasOwn(known, id));
    if (unknown.length > 0)
      throw invalidField(field, `must be existing perks; unknown: ${unknown.join(', ')}`);
  }

  /** Keys are `language id`; neither part contains a space. */
  private async load(keys: string[]): Promise<Record<string, ResolvedPerk>> {
    const found: Record<string, ResolvedPerk> = Object.create(null);
    const keysByLanguage = new Map<string, string[]>();
    for (const key of keys) {
      const language = key.slice(0, key.indexOf(' '));
      const ofLanguage = keysByLanguage.get(language);
      if (ofLanguage) ofLanguage.push(key);
      else keysByLanguage.set(language, [key]);
    }
    const load = async ([language, ofLanguage]: [string, string[]]) => {
      const ids = ofLanguage.map((key) => key.slice(language.length + 1));
      const perks = await this.rpc.request(RESOLVE_PERKS, { ids, ...(language && { language }) });
      for (const [id, perk] of Object.entries(perks)) found[`${language} ${id}`] = perk;
    };
    await Promise.all([...keysByLanguage].map(load));
    return found;
  }

  onApplicationShutdown(): void {
    this.targets.stop();
    this.perks.stop();
  }
}

/**
 * Drops URLs that are not allowed as redirect targets. The owner checks them too; this is the last defense against an
 * open redirect.
 */
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
