import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS, unavailable } from '@perkway/domain';
import { DataSource, type EntityManager } from 'typeorm';
import { CollectionStore } from './collection-store.js';

/** Rejects a write that has waited longer than this for earlier writes. */
const MAX_WAIT_MS = 10_000;

/**
 * Runs every change of categories, perks and collections in one transaction under one lock. A changed perk must reach
 * every collection that shows it, including one that adds it at the same moment; a single writer guarantees that
 * (docs/adr/0009-prepared-responses.md), and catalogue edits are rare.
 */
@Injectable()
export class CatalogWriter {
  /** The last queued write. Writes wait here, without a database connection, which reads may need. */
  private lastWrite: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly store: CollectionStore,
  ) {}

  /**
   * Runs `work` in a transaction. Once this resolves, this process serves the new state; other replicas follow within
   * seconds.
   */
  async write<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const deadline = Date.now() + MAX_WAIT_MS;
    const writing = this.lastWrite.then(() => {
      if (Date.now() > deadline) throw unavailable('The catalogue');
      return this.dataSource.transaction(async (manager) => {
        await manager.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.catalog})`);
        return work(manager);
      });
    });
    this.lastWrite = writing.catch(() => undefined);
    const result = await writing;
    await this.store.markChanged();
    return result;
  }
}
