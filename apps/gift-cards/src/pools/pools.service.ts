import { Injectable } from '@nestjs/common';
import { ApiError, isUuid, type Caller } from '@perkway/domain';
import { DataSource } from 'typeorm';
import type { Inventory, Pool } from './pool.dto.js';
import type { Product } from './product.dto.js';

export interface NumbersRow {
  id: string;
  owner: string;
  product: Product | null;
  /** Null for a pool without cards. */
  denomination: string | null;
  currency: string;
  country: string;
  available: string;
  reserved: string;
  redeemed: string;
  withdrawn: string;
  lapsed: string;
}

/**
 * Reads in one snapshot, so that the numbers of an entry always add up to the cards loaded
 * (docs/adr/0012-inventory-numbers.md). Only the first entry of a pool carries its product, which may include an image.
 */
const selectPools = (condition: string) => `
  select n.*, case when row_number() over (partition by n.id order by n.ordinality) = 1 then p.product end as product
  from pools_with_numbers(array(select id from pools where ${condition})) with ordinality n
  left join pools p on p.id = n.id
  order by n.ordinality`;

@Injectable()
export class PoolsService {
  constructor(private readonly dataSource: DataSource) {}

  async list({ account }: Caller): Promise<Pool[]> {
    return toPools(await this.dataSource.query(selectPools('owner = $1'), [account]));
  }

  /** @throws POOL_NOT_FOUND */
  async get({ account }: Caller, poolId: string): Promise<Pool> {
    const rows: NumbersRow[] = isUuid(poolId)
      ? await this.dataSource.query(selectPools('owner = $1 and id = $2'), [account, poolId])
      : [];
    const [pool] = toPools(rows);
    if (!pool) throw new ApiError('POOL_NOT_FOUND');
    return pool;
  }
}

/** Groups rows, which must be sorted by pool. */
export function toPools(rows: NumbersRow[]): Pool[] {
  const pools: Pool[] = [];
  for (const row of rows) {
    if (pools.at(-1)?.id !== row.id)
      pools.push({ id: row.id, owner: row.owner, product: row.product, inventories: [] });
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
  withdrawn: Number(row.withdrawn),
  lapsed: Number(row.lapsed),
});
