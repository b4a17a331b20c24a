import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS, unavailable } from '@perkway/domain';
import { DataSource, type EntityManager } from 'typeorm';
import { CollectionStore } from './collection-store.js';

/** A change that has to wait longer for those before it is refused, so that nobody hangs. */
const MAX_WAIT_MS = 10_000;

/**
 * Every change of categories, perks and collections is one transaction under one lock. The change of a perk must reach
 * every collection that shows it, also one that takes it up at the same moment; one writer at a time makes that
 * plain (docs/adr/0009-prepared-answers.md), and nobody edits a catalogue a thousand times a second.
 */
@Injectable()
export class CatalogWriter {
  /** Those that wait in this process wait here, and not each with a connection that the reads may need. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly store: CollectionStore,
  ) {}

  /** After the commit this process already reads what was written; the other replicas follow within seconds. */
  async write<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const deadline = Date.now() + MAX_WAIT_MS;
    const turn = this.last.then(() => {
      if (Date.now() > deadline) throw unavailable('The catalogue');
      return this.dataSource.transaction(async (manager) => {
        await manager.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.catalog})`);
        return work(manager);
      });
    });
    this.last = turn.catch(() => undefined);
    const result = await turn;
    await this.store.noticeEdit();
    return result;
  }
}
