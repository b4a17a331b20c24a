import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ApiError, invalidField, isUuid } from '@perkway/domain';
import { DrainState, LOGGER } from '@perkway/platform';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { DataSource, Repository } from 'typeorm';
import { CardVault } from '../cards/card-vault.js';
import { PoolEntity } from '../pools/pool.entity.js';
import { checkRows } from './check-rows.js';
import type { LoadCheck, LoadReport, LoadResult, LoadSummary } from './load.dto.js';
import { LoadWriter } from './load-writer.js';
import { discard, readCsv, readNdjson, type Rows } from './read-rows.js';

export type LoadFormat = 'csv' | 'ndjson';

/** On shutdown, a running load may continue for this long. */
const DRAIN_MS = 4_000;
/** Number of loads that the list of a pool shows, newest first. */
const LISTED = 50;

const SELECT_SUMMARY = `
  select id, file_name,
    case when state = 'running' and updated_at < now() - interval '30 seconds' then 'stalled' else state end as state,
    started_at, updated_at, rows::float8, imported::float8, duplicates::float8, rejected::float8`;

@Injectable()
export class LoadsService {
  private readonly cutOff = new AbortController();

  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(PoolEntity) private readonly pools: Repository<PoolEntity>,
    private readonly vault: CardVault,
    @Inject(LOGGER) private readonly logger: Logger,
    drain: DrainState,
  ) {
    const stop = () =>
      this.cutOff.abort(
        new ApiError(
          'DEPENDENCY_UNAVAILABLE',
          'The server is shutting down. Imported cards stay; send the file again',
        ),
      );
    drain.signal.addEventListener('abort', () => setTimeout(stop, DRAIN_MS).unref(), { once: true });
  }

  /**
   * Registers a load, so that its progress can be read.
   *
   * @param loadId a UUID that was never used
   * @throws POOL_NOT_FOUND, VALIDATION_FAILED
   */
  async begin(poolId: string, loadId: string, fileName: string | null): Promise<void> {
    await this.requirePool(poolId);
    // Waits for the deletion of the pool, if there is one.
    const inserted = await this.dataSource.query<unknown[]>(
      `insert into card_loads (id, pool_id, file_name) select $1, id, $3 from pools where id = $2 for key share
       on conflict do nothing returning id`,
      [loadId, poolId, fileName],
    );
    if (inserted.length > 0) return;
    await this.requirePool(poolId);
    throw invalidField('loadId', 'was used for another load');
  }

  /**
   * Loads the stream into the pool. If it is interrupted, the batches written so far stay, and the file can be sent
   * again.
   */
  async load(poolId: string, loadId: string, format: LoadFormat, stream: Readable): Promise<LoadResult> {
    const writer = new LoadWriter(this.dataSource, this.vault, loadId, poolId);
    const { signal } = this.cutOff;
    try {
      for await (const row of this.read(format, stream)) await writer.add(row);
      return await writer.finish();
    } catch (error) {
      this.logger.warn({ loadId, err: error }, 'a card load was interrupted');
      await writer
        .fail()
        .catch((err: unknown) => this.logger.warn({ loadId, err }, 'could not mark the load as failed'));
      await discard(stream, signal);
      throw error;
    }
  }

  /** Tells what a load of the stream would do now. @throws POOL_NOT_FOUND, VALIDATION_FAILED */
  async check(poolId: string, format: LoadFormat, stream: Readable): Promise<LoadCheck> {
    await this.requirePool(poolId);
    try {
      return await checkRows(this.dataSource, this.vault, this.read(format, stream));
    } finally {
      await discard(stream, this.cutOff.signal);
    }
  }

  /** @throws POOL_NOT_FOUND, LOAD_NOT_FOUND */
  async report(poolId: string, loadId: string): Promise<LoadReport> {
    await this.requirePool(poolId);
    if (!isUuid(loadId)) throw new ApiError('LOAD_NOT_FOUND');
    const [report] = await this.dataSource.query<LoadReport[]>(
      `${SELECT_SUMMARY}, rejected_rows, duplicate_rows from card_loads where pool_id = $1 and id = $2`,
      [poolId, loadId],
    );
    if (!report) throw new ApiError('LOAD_NOT_FOUND');
    return report;
  }

  /** @throws POOL_NOT_FOUND */
  async list(poolId: string): Promise<LoadSummary[]> {
    await this.requirePool(poolId);
    return this.dataSource.query(
      `${SELECT_SUMMARY} from card_loads where pool_id = $1 order by started_at desc, id limit ${LISTED}`,
      [poolId],
    );
  }

  private read(format: LoadFormat, stream: Readable): Rows {
    const { signal } = this.cutOff;
    return format === 'csv' ? readCsv(stream, signal) : readNdjson(stream, signal);
  }

  private async requirePool(poolId: string) {
    if (!isUuid(poolId) || !(await this.pools.existsBy({ id: poolId }))) throw new ApiError('POOL_NOT_FOUND');
  }
}
