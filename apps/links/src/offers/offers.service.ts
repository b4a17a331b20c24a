import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { redirectTarget, SUBJECTS, type ResolvePerksReply } from '@perkway/domain';
import { LOGGER, RefreshingCache, RpcClient } from '@perkway/platform';
import type { Logger } from 'pino';

/** Where perks lead now, kept in this process: an edit is in force within seconds, an absent owner is not noticed. */
@Injectable()
export class OffersService implements OnApplicationShutdown {
  private readonly cache: RefreshingCache<string>;

  constructor(rpc: RpcClient, @Inject(LOGGER) logger: Logger) {
    this.cache = new RefreshingCache<string>({
      name: 'offers',
      logger,
      staleForMs: Infinity,
      // The answers carry texts of up to 20,000 characters, and a message holds 1 MB.
      batch: 50,
      load: async (ids) => {
        const { perks } = await rpc.request<ResolvePerksReply>(
          SUBJECTS.resolvePerks,
          { ids },
          'The perk catalogue',
        );
        const targets: Record<string, string> = Object.create(null);
        for (const [id, { offerUrl }] of Object.entries(perks)) {
          const target = redirectTarget(offerUrl);
          if (target !== undefined) targets[id] = target;
        }
        return targets;
      },
    });
  }

  /** The offer URL if it is at hand. */
  peek(perk: string): string | undefined {
    return this.cache.peek(perk);
  }

  /**
   * The offer URL; undefined when the perk does not exist or leads nowhere that may be redirected to.
   * @throws DomainError 503 when the owner is away and the perk was never seen here
   */
  find(perk: string): Promise<string | undefined> {
    return this.cache.get(perk);
  }

  onApplicationShutdown(): void {
    this.cache.stop();
  }
}
