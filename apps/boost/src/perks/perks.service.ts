import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { redirectTarget, SUBJECTS, type ResolvedPerk, type ResolvePerksReply } from '@perkway/domain';
import { LOGGER, RefreshingCache, RpcClient } from '@perkway/platform';
import type { Logger } from 'pino';

export interface Perk extends Omit<ResolvedPerk, 'offerUrl'> {
  /** Where a click leads; undefined for an offer that may not be redirected to. */
  target: string | undefined;
}

/** An answer carries texts of up to 20,000 characters for each perk, and a message holds 1 MB. */
const PERKS_PER_REQUEST = 10;

/** The perks of the catalogue as this process knows them: an edit is in force within seconds. */
@Injectable()
export class PerksService implements OnApplicationShutdown {
  private readonly cache: RefreshingCache<Perk>;

  constructor(
    private readonly rpc: RpcClient,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.cache = new RefreshingCache<Perk>({
      name: 'perks',
      logger,
      load: (ids) => this.ask(ids),
      staleForMs: Infinity,
      batch: PERKS_PER_REQUEST,
    });
  }

  /** The perk if it is at hand. */
  peek(id: string): Perk | undefined {
    return this.cache.peek(id);
  }

  /** @throws DomainError 503 when the catalogue is away and the perk was never seen here */
  find(id: string): Promise<Perk | undefined> {
    return this.cache.get(id);
  }

  /** Which of the ids are perks at this moment, asked of the catalogue itself. */
  async known(ids: string[]): Promise<Set<string>> {
    const known = new Set<string>();
    for (let from = 0; from < ids.length; from += PERKS_PER_REQUEST)
      for (const id of Object.keys(await this.ask(ids.slice(from, from + PERKS_PER_REQUEST)))) known.add(id);
    return known;
  }

  onApplicationShutdown(): void {
    this.cache.stop();
  }

  private async ask(ids: string[]): Promise<Record<string, Perk>> {
    const { perks } = await this.rpc.request<ResolvePerksReply>(
      SUBJECTS.resolvePerks,
      { ids },
      'The perk catalogue',
    );
    return Object.fromEntries(
      Object.entries(perks).map(([id, { offerUrl, ...texts }]) => [
        id,
        { ...texts, target: redirectTarget(offerUrl) },
      ]),
    );
  }
}
