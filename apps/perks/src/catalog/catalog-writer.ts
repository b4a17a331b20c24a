import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CollectionStore } from './collection-store.js';

/** Any fixed pair: the lock under which the catalogue changes. */
const LOCK = 'select pg_advisory_xact_lock(7271, 1)';

/**
 * Every change of categories, perks and collections is one transaction under one lock. The change of a perk must reach
 * every collection that shows it, also one that takes it up at the same moment; one writer at a time makes that
 * plain (docs/adr/0009-prepared-answers.md), and nobody edits a catalogue a thousand times a second.
 */
@Injectable()
export class CatalogWriter {
  constructor(
    private readonly dataSource: DataSource,
    private readonly store: CollectionStore,
  ) {}

  /** After the commit this process already reads what was written; the other replicas follow within seconds. */
  async write<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const result = await this.dataSource.transaction(async (manager) => {
      await manager.query(LOCK);
      return work(manager);
    });
    await this.store.refresh();
    return result;
  }
}
