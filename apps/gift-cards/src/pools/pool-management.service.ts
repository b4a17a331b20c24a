import { Injectable } from '@nestjs/common';
import { AccountDirectory } from '@perkway/directory';
import { ApiError, invalidField, isUuid } from '@perkway/domain';
import {
  listResources,
  lockRow,
  KeysetPaginator,
  upsertResource,
  requireDeletable,
  requireFound,
  timesOf,
  type ListQuery,
  type Page,
  type Settings,
} from '@perkway/platform';
import { DataSource, type EntityManager } from 'typeorm';
import type { PutPool, StoredPool } from './pool.dto.js';
import { PoolEntity } from './pool.entity.js';
import { toProduct } from './product.js';
import { toPools, type NumbersRow } from './pools.service.js';

/** The settings of a pool, without its numbers. */
type PoolSettings = Omit<StoredPool, 'inventories'>;
const toSettings = (pool: PoolEntity): PoolSettings => ({ ...pool, ...timesOf(pool) });

const DELETE = [
  'delete from withdrawals where pool_id = $1',
  'delete from card_loads where pool_id = $1',
  'delete from inventory_counts where inventory_id in (select id from inventories where pool_id = $1)',
  'delete from inventories where pool_id = $1',
  'delete from pools where id = $1',
];

/** Manages the pools of all accounts. */
@Injectable()
export class PoolManagementService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly accounts: AccountDirectory,
    private readonly pages: KeysetPaginator,
  ) {}

  /** Returns a page of pools, sorted by id. @throws ApiError VALIDATION_FAILED */
  async list(query: ListQuery): Promise<Page<StoredPool>> {
    const { data, next_cursor } = await listResources<PoolEntity, PoolSettings>(
      this.dataSource,
      this.pages,
      query,
      {
        name: 'pools',
        select: 'select * from pools',
        search: ['id::text', "product ->> 'name'"],
        owner: 'owner',
        toItem: toSettings,
      },
    );
    return { data: await this.withNumbers(data), next_cursor };
  }

  /** @throws ApiError POOL_NOT_FOUND */
  async get(id: string): Promise<StoredPool> {
    const pool = requireFound(await this.find(this.dataSource.manager, id), 'POOL_NOT_FOUND');
    return (await this.withNumbers([pool]))[0]!;
  }

  /**
   * Creates the pool or replaces its settings. A new owner takes over the pool with all its cards; links that were
   * already given out keep working and stay with the account that created them.
   *
   * @throws ApiError PRECONDITION_FAILED; VALIDATION_FAILED if the id is not a UUID or the account does not exist
   */
  async put(id: string, { owner, product }: PutPool, ifMatch?: string): Promise<StoredPool> {
    if (!isUuid(id)) throw invalidField('poolId', 'must be a UUID');
    const wanted: Settings<PoolSettings> = {
      id: id.toLowerCase(),
      owner,
      product: product ? toProduct(product) : null,
    };
    await this.accounts.require('owner', owner);
    const stored = await this.dataSource.transaction(async (manager) => {
      await lockRow(manager, 'pools', wanted.id);
      return upsertResource<PoolSettings>(
        ifMatch,
        wanted,
        () => this.find(manager, wanted.id),
        async (times) => void (await manager.upsert(PoolEntity, { ...wanted, ...times }, ['id'])),
      );
    });
    return (await this.withNumbers([stored]))[0]!;
  }

  /**
   * @throws ApiError POOL_NOT_FOUND, PRECONDITION_FAILED
   * @throws ApiError IN_USE if the pool has ever had cards, or cards are being loaded into it
   */
  delete(id: string, ifMatch?: string): Promise<void> {
    return this.dataSource.transaction(async (manager) => {
      // A load may hold a lock on this row right now; wait for it.
      if (isUuid(id)) await manager.query('select from pools where id = $1 for update', [id]);
      requireDeletable(ifMatch, await this.find(manager, id), 'POOL_NOT_FOUND');
      const [{ cards, loads }] = await manager.query<[{ cards: boolean; loads: boolean }]>(
        `select
           exists (
             select from inventories i join inventory_counts c on c.inventory_id = i.id
             where i.pool_id = $1 and c.loaded > 0
           ) as cards,
           exists (
             select from card_loads
             where pool_id = $1 and state = 'running' and updated_at > now() - interval '1 minute'
           ) as loads`,
        [id],
      );
      if (cards) throw new ApiError('IN_USE', 'The pool has had cards');
      if (loads) throw new ApiError('IN_USE', 'Cards are being loaded into the pool');
      for (const statement of DELETE) await manager.query(statement, [id]);
    });
  }

  private async find(manager: EntityManager, id: string): Promise<PoolSettings | undefined> {
    const pool = isUuid(id) ? await manager.findOneBy(PoolEntity, { id }) : null;
    return pool ? toSettings(pool) : undefined;
  }

  private async withNumbers(pools: PoolSettings[]): Promise<StoredPool[]> {
    const rows = await this.dataSource.query<NumbersRow[]>('select * from pools_with_numbers($1)', [
      pools.map(({ id }) => id),
    ]);
    const numbers = new Map(toPools(rows).map(({ id, inventories }) => [id, inventories]));
    return pools.map((pool) => ({ ...pool, inventories: numbers.get(pool.id) ?? [] }));
  }
}
