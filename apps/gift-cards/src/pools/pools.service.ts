import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { AccountDirectory } from '@perkway/directory';
import { DomainError, invalidField, isUuid, type Caller } from '@perkway/domain';
import { DataSource, Repository } from 'typeorm';
import type { Inventory, Pool } from './pool.dto.js';
import { PoolEntity } from './pool.entity.js';

interface NumbersRow {
  id: string;
  owner: string;
  /** Null for a pool without cards. */
  denomination: string | null;
  currency: string;
  country: string;
  available: string;
  reserved: string;
  redeemed: string;
}

/** In one snapshot: the numbers of an entry always add up to the cards loaded (docs/adr/0012-inventory-numbers.md). */
const selectPools = (condition: string) =>
  `select * from pools_with_numbers(array(select id from pools where ${condition}))`;

@Injectable()
export class PoolsService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(PoolEntity) private readonly pools: Repository<PoolEntity>,
    private readonly accounts: AccountDirectory,
  ) {}

  async list({ account }: Caller): Promise<Pool[]> {
    return toPools(await this.dataSource.query(selectPools('owner = $1'), [account]));
  }

  /** @throws POOL_NOT_FOUND */
  async get({ account }: Caller, poolId: string): Promise<Pool> {
    const rows: NumbersRow[] = isUuid(poolId)
      ? await this.dataSource.query(selectPools('owner = $1 and id = $2'), [account, poolId])
      : [];
    const [pool] = toPools(rows);
    if (!pool) throw new DomainError('POOL_NOT_FOUND');
    return pool;
  }

  /**
   * Makes the pool, or gives an existing one with all its cards to another account; links that were given out go on
   * working and stay with the account that made them.
   *
   * @throws VALIDATION_FAILED when the pool is no UUID or the account does not exist
   */
  async put(poolId: string, owner: string): Promise<Pool> {
    if (!isUuid(poolId)) throw invalidField('poolId', 'must be a UUID');
    await this.accounts.require('owner', owner);
    await this.pools.upsert({ id: poolId, owner }, ['id']);
    const [pool] = toPools(await this.dataSource.query(selectPools('id = $1'), [poolId]));
    return pool!;
  }
}

/** Rows in the order of their pools. */
function toPools(rows: NumbersRow[]): Pool[] {
  const pools: Pool[] = [];
  for (const row of rows) {
    if (pools.at(-1)?.id !== row.id) pools.push({ id: row.id, owner: row.owner, inventories: [] });
    if (row.denomination !== null) pools.at(-1)!.inventories.push(toInventory(row));
  }
  return pools;
}

const toInventory = (row: NumbersRow): Inventory => ({
  denomination: Number(row.denomination),
  currency: row.currency,
  country: row.country,
  available: Number(row.available),
  reserved: Number(row.reserved),
  redeemed: Number(row.redeemed),
});
