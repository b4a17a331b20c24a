import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DomainError, type Caller } from '@perkway/domain';
import { LOGGER, RefreshingCache } from '@perkway/platform';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import type { Collection } from './collection.js';
import { loadCollection } from './load-collection.js';

/** An edit made through another replica is seen after this time and that of one load. */
const WATCH_MS = 1_000;
/** Perks kept in memory, counted in each collection that has them. */
const MAX_PERKS = 200_000;

const OWNED = `
  select owner, array_agg(id order by id) as ids from collections where owner = any($1) group by owner`;

interface Known {
  collection: Collection;
  /** An edit of this process has changed it: it is loaded again before it is read, unless the database is away. */
  isOutdated: boolean;
}

/**
 * The collections that are being read, as they are in the database now or were a moment ago. One small statement a
 * second asks for the revisions of all of them; what has changed is loaded again while the old one goes on being
 * served. Without the database everything that is known is served for as long as it takes.
 */
@Injectable()
export class CollectionStore implements OnModuleInit, OnModuleDestroy {
  private readonly known = new LRUCache<string, Known>({
    maxSize: MAX_PERKS,
    sizeCalculation: ({ collection }) => 1 + collection.perks.length,
  });
  private readonly loading = new Map<string, Promise<Collection | undefined>>();
  private readonly listeners: ((id: string) => void)[] = [];
  /** The ids of an account's collections. */
  private readonly owned: RefreshingCache<string[]>;
  private watching: Promise<void> = Promise.resolve();
  private isWatching = false;
  private isDatabaseAway = false;
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
    // A database that hangs must not make the turns pile up.
    this.timer = setInterval(() => {
      if (!this.isWatching) void this.enqueue((changed) => this.reload(changed));
    }, WATCH_MS).unref();
  }

  async onModuleDestroy() {
    clearInterval(this.timer);
    this.owned.stop();
    await this.watching;
  }

  /** Called with the id of a collection that has changed. */
  onChange(listener: (id: string) => void): void {
    this.listeners.push(listener);
  }

  /** The caller's collection. @throws DomainError COLLECTION_NOT_FOUND, also for another account's */
  ofCaller({ account }: Caller, id: string): Collection | Promise<Collection> {
    const own = (collection: Collection | undefined): Collection => {
      if (collection?.owner !== account) throw new DomainError('COLLECTION_NOT_FOUND');
      return collection;
    };
    const known = this.peek(id);
    return known ? own(known) : this.find(id).then(own);
  }

  /** Without waiting; undefined says "ask with find". */
  private peek(id: string): Collection | undefined {
    const known = this.known.get(id);
    return known?.isOutdated ? undefined : known?.collection;
  }

  /** The collection, whoever owns it. Fails only when it is not known and the database is away. */
  async find(id: string): Promise<Collection | undefined> {
    const known = this.known.get(id);
    if (known && !known.isOutdated) return known.collection;
    const loading = this.loading.get(id) ?? this.load(id);
    return known ? loading.catch(() => known.collection) : loading;
  }

  /** Ascending. */
  async idsOwnedBy(account: string): Promise<string[]> {
    return (await this.owned.get(account)) ?? [];
  }

  /** The account has got or lost a collection through this process. */
  forgetIdsOwnedBy(account: string): void {
    this.owned.invalidate(account);
  }

  /** After this, everything that was committed before the call is what is read here. Never rejects. */
  noticeEdit(): Promise<void> {
    // Not loaded here: whoever edits two thousand perks would have their collection loaded two thousand times.
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

  /** One look after the other, so that none is overtaken by what an earlier one has read. */
  private enqueue(work: (changed: Known[]) => void | Promise<void>): Promise<void> {
    this.watching = this.watching.then(() => this.look(work));
    return this.watching;
  }

  /** Asks for the revisions of everything that is known and works on what has changed. */
  private async look(work: (changed: Known[]) => void | Promise<void>): Promise<void> {
    this.isWatching = true;
    // A load under way may have read the time before; once it is done, its revision tells.
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
      if (this.isDatabaseAway) this.logger.info('the catalogue can be read again');
      this.isDatabaseAway = false;
    } catch (err) {
      if (!this.isDatabaseAway) this.logger.warn({ err }, 'cannot read the catalogue, serving what is known');
      this.isDatabaseAway = true;
    } finally {
      this.isWatching = false;
    }
  }
}
