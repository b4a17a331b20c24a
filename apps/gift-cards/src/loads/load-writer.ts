import type { DataSource } from 'typeorm';
import type { CardVault } from '../cards/card-vault.js';
import type { CardRow, RowProblem } from './card-row.js';
import { MAX_REPORTED, type LoadResult, type RowReport } from './load.dto.js';

/** Rows per transaction. */
const BATCH = 2_000;
/** Card ids are allocated in blocks of this size, because a card's id must be known before it is encrypted. */
const BLOCK = 65_536;
/**
 * Maximum number of cached inventory ids. A correct load needs only a few; the limit bounds the memory for a faulty
 * one.
 */
const MAX_CACHED_INVENTORIES = 1_000;
/** Yields to the event loop after this many rows (a few milliseconds), so that other requests are served. */
const ROWS_PER_TURN = 200;

/**
 * Inserts the new cards of a batch with their stock and counts, and updates the load's progress, all or nothing. If
 * several rows have the same code, the first one wins. Rows are inserted in the order of their hashes, and counts in
 * the order of their inventories, so that two loads cannot deadlock.
 */
const INSERT = `
  with input as (
    select * from unnest($2::bigint[], $3::integer[], $4::uuid[], $5::text[], $6::integer[], $11::text[])
      as input (id, inventory_id, code_hash, sealed, number, batch)
  ), fresh as (
    -- Cards whose code was not loaded before.
    insert into cards (id, inventory_id, code_hash, sealed, load_id, batch)
    select id, inventory_id, code_hash, decode(sealed, 'base64'), $1, batch from input order by code_hash, number
    on conflict (code_hash) do nothing
    returning id, inventory_id
  ), stocked as (
    -- Each gets a random place among the free cards of its inventory.
    insert into free_cards (inventory_id, pick, card_id)
    select inventory_id, floor(random() * 4294967296 - 2147483648)::integer, id from fresh
  ), counted as (
    -- Concurrent loads count in different slots, so that they do not wait for each other.
    insert into inventory_counts as c (inventory_id, slot, loaded)
    select inventory_id, 16 + pg_backend_pid() % 16, count(*) from fresh group by inventory_id order by inventory_id
    on conflict (inventory_id, slot) do update set loaded = c.loaded + excluded.loaded
  ), duplicate as (
    -- The other rows, of which only the first $7 are reported.
    select number from input where id not in (select id from fresh)
  ), reply as (
    select count(*)::integer as duplicates, coalesce((array_agg(number order by number))[:$7], '{}') as numbers
    from duplicate
  )
  update card_loads l set
    updated_at = clock_timestamp(),
    rows = l.rows + $8,
    imported = l.imported + cardinality($2::bigint[]) - reply.duplicates,
    duplicates = l.duplicates + reply.duplicates,
    rejected = l.rejected + $9,
    duplicate_rows = l.duplicate_rows || (
      select coalesce(jsonb_agg(jsonb_build_object('row', number, 'reason', 'CODE_DUPLICATE')), '[]')
      from unnest(reply.numbers) as number
    ),
    rejected_rows = l.rejected_rows || $10::jsonb
  from reply where l.id = $1
  returning reply.duplicates, cardinality(reply.numbers) as reported`;

interface Batch {
  rows: number;
  ids: number[];
  inventories: number[];
  hashes: string[];
  sealed: string[];
  numbers: number[];
  /** Batches of the issuer, if any row names one. */
  batches: (string | null)[] | null;
  rejected: number;
  rejectedRows: RowReport[];
}

const newBatch = (): Batch => ({
  rows: 0,
  ids: [],
  inventories: [],
  hashes: [],
  sealed: [],
  numbers: [],
  batches: null,
  rejected: 0,
  rejectedRows: [],
});

/** Builds an array literal, which is much cheaper here than in the driver. Numbers, hex and base64 need no quotes. */
const literal = (items: readonly (string | number)[]): string => `{${items.join(',')}}`;

/** Writes one load in batches. Encrypts the next batch while the previous one is being written. */
export class LoadWriter {
  private batch = newBatch();
  private writing: Promise<void> = Promise.resolve();
  private readonly inventories = new Map<string, number>();
  private nextId = 0;
  private blockEnd = 0;
  private rows = 0;
  private imported = 0;
  private duplicates = 0;
  private reportedDuplicates = 0;
  private rejected = 0;
  private readonly rejectedRows: RowReport[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly vault: CardVault,
    private readonly loadId: string,
    private readonly poolId: string,
  ) {}

  /** Waits while the database is behind, so that at most two batches are in memory. */
  async add(row: CardRow | RowProblem): Promise<void> {
    this.rows += 1;
    this.batch.rows += 1;
    if (typeof row === 'string') this.reject(row);
    else await this.prepare(row);
    if (this.batch.rows >= BATCH) await this.flush();
    else if (this.rows % ROWS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Writes the last batch and marks the load as finished. */
  async finish(): Promise<LoadResult> {
    await this.flush();
    await this.writing;
    await this.end('finished');
    const { imported, duplicates, rejectedRows, rejected } = this;
    return {
      load_id: this.loadId,
      imported,
      duplicates,
      rejected: rejectedRows,
      ...(rejected > rejectedRows.length ? { rejected_total: rejected } : {}),
    };
  }

  /** Marks the load as failed. Batches already written stay. */
  async fail(): Promise<void> {
    await this.writing.catch(() => undefined);
    await this.end('failed');
  }

  private reject(reason: RowProblem) {
    this.rejected += 1;
    this.batch.rejected += 1;
    if (this.rejectedRows.length >= MAX_REPORTED) return;
    const report = { row: this.rows, reason };
    this.rejectedRows.push(report);
    this.batch.rejectedRows.push(report);
  }

  private async prepare(row: CardRow) {
    const { batch } = this;
    const inventory = `${row.denomination} ${row.currency} ${row.country} ${row.valid_until ?? ''}`;
    const inventoryId = this.inventories.get(inventory) ?? (await this.findInventory(inventory, row));
    if (this.nextId === this.blockEnd) await this.takeBlock();
    const id = this.nextId;
    this.nextId += 1;
    batch.ids.push(id);
    batch.inventories.push(inventoryId);
    batch.hashes.push(this.vault.hash(row.code));
    batch.sealed.push(this.vault.seal(row, id).toString('base64'));
    batch.numbers.push(this.rows);
    if (row.batch !== undefined) (batch.batches ??= [])[batch.ids.length - 1] = row.batch;
  }

  private async findInventory(
    name: string,
    { denomination, currency, country, valid_until }: CardRow,
  ): Promise<number> {
    const values = [this.poolId, denomination, currency, country, valid_until ?? null];
    const select = `
      select id from inventories
      where pool_id = $1 and denomination = $2 and currency = $3 and country = $4
        and valid_until is not distinct from $5::date`;
    let [found] = await this.dataSource.query<{ id: number }[]>(select, values);
    if (!found) {
      await this.dataSource.query(
        `insert into inventories (pool_id, denomination, currency, country, valid_until)
         values ($1, $2, $3, $4, $5) on conflict do nothing`,
        values,
      );
      [found] = await this.dataSource.query(select, values);
    }
    if (this.inventories.size === MAX_CACHED_INVENTORIES) this.inventories.clear();
    this.inventories.set(name, found!.id);
    return found!.id;
  }

  private async takeBlock() {
    const [{ block }] = await this.dataSource.query<[{ block: string }]>(
      "select nextval('card_blocks') as block",
    );
    this.nextId = Number(block) * BLOCK;
    this.blockEnd = this.nextId + BLOCK;
  }

  private async flush() {
    const { batch } = this;
    if (batch.rows === 0) return;
    this.batch = newBatch();
    await this.writing;
    this.writing = this.write(batch);
    // The next flush awaits the write; until then its failure must not count as an unhandled rejection.
    this.writing.catch(() => undefined);
  }

  private async write(batch: Batch) {
    const [[response]] = await this.dataSource.query<[[{ duplicates: number; reported: number }]]>(INSERT, [
      this.loadId,
      literal(batch.ids),
      literal(batch.inventories),
      literal(batch.hashes),
      literal(batch.sealed),
      literal(batch.numbers),
      MAX_REPORTED - this.reportedDuplicates,
      batch.rows,
      batch.rejected,
      JSON.stringify(batch.rejectedRows),
      batch.batches,
    ]);
    this.imported += batch.ids.length - response.duplicates;
    this.duplicates += response.duplicates;
    this.reportedDuplicates += response.reported;
  }

  private async end(state: 'finished' | 'failed') {
    await this.dataSource.query(
      'update card_loads set state = $2, updated_at = clock_timestamp() where id = $1',
      [this.loadId, state],
    );
  }
}
