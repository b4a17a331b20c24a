import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { ApiError, type Caller } from '@perkway/domain';
import { LOGGER, RefreshingCache } from '@perkway/platform';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import type { Collection } from './collection.js';
import { loadCollection } from './load-collection.js';

/** An edit made through another replica becomes visible after this interval plus one load. */
const WATCH_MS = 1_000;
/** Maximum number of perks kept in memory; a perk counts once for each collection that contains it. */
const MAX_PERKS = 200_000;

const OWNED = `
  select owner, array_agg(id order by id) as ids from collections where owner = any($1) group by owner`;

interface Known {
  collection: Collection;
  /**
   * An edit in this process changed the collection: reload it before the next read, unless the database is unavailable.
   */
  isOutdated: boolean;
}

/**
 * Keeps the collections that clients read in memory. Once a second, one small query compares their revisions; changed
 * collections are reloaded while the old version is still served. While the database is unavailable, every known
 * collection stays readable.
 */
@Injectable()
export class CollectionStore implements OnModuleInit, OnModuleDestroy {
  private readonly known = new LRUCache<string, Known>({
    maxSize: MAX_PERKS,
    sizeCalculation: ({ collection }) => 1 + collection.perks.length,
  });
  private readonly loading = new Map<string, Promise<Collection | undefined>>();
  private readonly listeners: ((id: string) => void)[] = [];
  /** Collection ids by account. */
  private readonly owned: RefreshingCache<string[]>;
  private watching: Promise<void> = Promise.resolve();
  private isWatching = false;
  private isDatabaseUnavailable = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.owned = new RefreshingCache<string[]>({
      name: 'collections-by-owner',
      logger,
      load: (owners) => this.loadOwned(owners),
      staleForMs: Infinity,
    });
  }

  onModuleInit() {
    // Skip this tick if the last check still runs, so that checks do not pile up while the database hangs.
    this.timer = setInterval(() => {
      if (!this.isWatching) void this.enqueue((changed) => this.reload(changed));
    }, WATCH_MS).unref();
  }

  async onModuleDestroy() {
    clearInterval(this.timer);
    this.owned.stop();
    await this.watching;
  }

  /** Registers a listener that gets the id of each changed collection. */
  onChange(listener: (id: string) => void): void {
    this.listeners.push(listener);
  }

  /** Returns the caller's collection. @throws ApiError COLLECTION_NOT_FOUND, also if it belongs to another account */
  ofCaller({ account }: Caller, id: string): Collection | Promise<Collection> {
    const own = (collection: Collection | undefined): Collection => {
      if (collection?.owner !== account) throw new ApiError('COLLECTION_NOT_FOUND');
      return collection;
    };
    const known = this.peek(id);
    return known ? own(known) : this.find(id).then(own);
  }

  /** Returns the collection if it is in memory and current; otherwise use `find`. */
  private peek(id: string): Collection | undefined {
    const known = this.known.get(id);
    return known?.isOutdated ? undefined : known?.collection;
  }

  /** Returns the collection of any account. Fails only if it is not in memory and the database is unavailable. */
  async find(id: string): Promise<Collection | undefined> {
    const known = this.known.get(id);
    if (known && !known.isOutdated) return known.collection;
    const loading = this.loading.get(id) ?? this.load(id);
    return known ? loading.catch(() => known.collection) : loading;
  }

  /** Returns the ids of the account's collections, ascending. */
  async idsOwnedBy(account: string): Promise<string[]> {
    return (await this.owned.get(account)) ?? [];
  }

  /** Call after this process gave a collection to the account or took one away. */
  forgetIdsOwnedBy(account: string): void {
    this.owned.invalidate(account);
  }

  /**
   * Marks edited collections as outdated. Once this resolves, reads see everything that was committed before the call,
   * unless the database was unavailable. Never rejects.
   */
  markChanged(): Promise<void> {
    // Reloading here instead would load a collection of 2,000 perks 2,000 times when all its perks are edited.
    return this.enqueue((changed) => {
      for (const known of changed) known.isOutdated = true;
    });
  }

  private load(id: string): Promise<Collection | undefined> {
    const loading = loadCollection(this.dataSource, id)
      .then((collection) => {
        this.remember(id, collection);
        return collection;
      })
      .finally(() => this.loading.delete(id));
    this.loading.set(id, loading);
    return loading;
  }

  private async loadOwned(owners: string[]): Promise<Record<string, string[]>> {
    const rows = await this.dataSource.query<{ owner: string; ids: string[] }[]>(OWNED, [owners]);
    const byOwner = new Map(rows.map(({ owner, ids }) => [owner, ids]));
    return Object.fromEntries(owners.map((owner) => [owner, byOwner.get(owner) ?? []]));
  }

  private remember(id: string, collection: Collection | undefined) {
    if (collection) this.known.set(id, { collection, isOutdated: false });
    else this.known.delete(id);
    for (const listener of this.listeners) listener(id);
  }

  private async reload(changed: Known[]): Promise<void> {
    for (const { collection } of changed)
      this.remember(collection.id, await loadCollection(this.dataSource, collection.id));
  }

  /** Runs the checks one after the other, so that an older result never overwrites a newer one. */
  private enqueue(work: (changed: Known[]) => void | Promise<void>): Promise<void> {
    this.watching = this.watching.then(() => this.findChanged(work));
    return this.watching;
  }

  /** Finds the known collections whose revision has changed and passes them to `work`. */
  private async findChanged(work: (changed: Known[]) => void | Promise<void>): Promise<void> {
    this.isWatching = true;
    // A load under way may have read the old state. Wait for it, so that its revision takes part in the comparison.
    await Promise.allSettled(this.loading.values());
    try {
      const known = [...this.known.values()];
      if (known.length === 0) return;
      const rows = await this.dataSource.query<{ id: string; revision: string }[]>(
        'select id, revision from collections where id = any($1)',
        [known.map(({ collection }) => collection.id)],
      );
      const revisions = new Map(rows.map(({ id, revision }) => [id, revision]));
      await work(known.filter(({ collection: { id, revision } }) => revisions.get(id) !== revision));
      if (this.isDatabaseUnavailable) this.logger.info('the catalogue is readable again');
      this.isDatabaseUnavailable = false;
    } catch (err) {
      if (!this.isDatabaseUnavailable)
        this.logger.warn({ err }, 'cannot read the catalogue, serving from memory');
      this.isDatabaseUnavailable = true;
    } finally {
      this.isWatching = false;
    }
  }
}
