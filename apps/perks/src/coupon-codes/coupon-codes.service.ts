import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ADVISORY_LOCKS, ApiError, type Caller } from '@perkway/domain';
import { DataSource, Repository, type EntityManager } from 'typeorm';
import { PerkEntity } from '../perks/perk.entity.js';
import type { AllocatedCouponCode, CouponCodeStock, LoadedCouponCodes } from './coupon-code.dto.js';

/** Inserts in a fixed order, so that two loads of the same codes cannot deadlock. */
const LOAD = `
  with loaded as (
    insert into coupon_codes (perk_id, code)
    select $1, code from (select distinct unnest($2::text[]) as code) given order by code
    on conflict (perk_id, code) do nothing
    returning 1
  )
  select count(*)::integer as imported from loaded`;

const STOCK = `
  select count(*)::integer as loaded, count(customer_id)::integer as allocated, count(pick)::integer as left
  from coupon_codes where perk_id = $1`;

/**
 * Finds the customer's code or takes a free one in one statement, so that an interruption never leaves a code half
 * taken. `locking` decides whether to skip or wait for codes that other transactions hold.
 */
const allocation = (locking: 'for update skip locked' | 'for update') => `
  with
  -- The code that the customer already has.
  own as (
    select id, code, allocated_at from coupon_codes
    where perk_id = $1 and account = $2 and customer_id = $3
  ),
  -- Otherwise the first free code at or after a random position, or else before it.
  above as (
    select id from coupon_codes
    where perk_id = $1 and pick >= $4 and not exists (select from own)
    order by pick limit 1 ${locking}
  ),
  below as (
    select id from coupon_codes
    where perk_id = $1 and pick < $4 and not exists (select from own) and not exists (select from above)
    order by pick limit 1 ${locking}
  ),
  taken as (
    update coupon_codes set pick = null, account = $2, customer_id = $3, allocated_at = clock_timestamp()
    where id = (select id from above union all select id from below)
    returning code, allocated_at
  )
  select code, allocated_at, true as is_new from taken
  union all
  select code, allocated_at, false from own`;
const TAKE_ANY = allocation('for update skip locked');
/** Serializes allocations of one perk and account, so that concurrent ones never exceed the quota. */
const LOCK_QUOTA = `select pg_advisory_xact_lock(${ADVISORY_LOCKS.couponQuota}, hashtext($1 || ' ' || $2))`;
/** Null without a quota. A customer who has a code keeps it, even beyond the quota. */
const IS_PAST_QUOTA = `
  select (select codes_per_account from perks where id = $1) <= count(*) as is_past
  from (
    select customer_id from coupon_codes where perk_id = $1 and account = $2 and customer_id is not null
    limit (select codes_per_account from perks where id = $1)
  ) as allocated
  where not exists (select from coupon_codes where perk_id = $1 and account = $2 and customer_id = $3)`;
/** Waits for codes that other transactions hold: they become free again if those roll back. */
const TAKE_LAST = allocation('for update');

const UNIQUE_VIOLATION = '23505';
/** Only other requests of the same customer can win the race, and afterwards their code is found. */
const ATTEMPTS = 3;

interface Allocation {
  code: string;
  allocated_at: Date;
  is_new: boolean;
}

@Injectable()
export class CouponCodesService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(PerkEntity) private readonly perks: Repository<PerkEntity>,
  ) {}

  /** Adds codes to a perk's stock. @throws ApiError PERK_NOT_FOUND, PERK_HAS_NO_CODES */
  async load(perkId: string, codes: string[]): Promise<LoadedCouponCodes> {
    await this.requireCouponPerk(perkId);
    const [{ imported }] = await this.dataSource.query<[{ imported: number }]>(LOAD, [perkId, codes]);
    return { imported, duplicates: codes.length - imported };
  }

  /** @throws ApiError PERK_NOT_FOUND, PERK_HAS_NO_CODES */
  async stock(perkId: string): Promise<CouponCodeStock> {
    await this.requireCouponPerk(perkId);
    const [stock] = await this.dataSource.query<[CouponCodeStock]>(STOCK, [perkId]);
    return stock;
  }

  /**
   * Returns the customer's code, allocating one if needed. Each customer of an account has one code per perk.
   * @returns `isNew` is false if the customer already had the code
   * @throws ApiError NO_AVAILABLE_CODES, also if the account has used up its quota
   */
  async allocate(
    caller: Caller,
    perkId: string,
    customerId: string,
  ): Promise<{ allocated: AllocatedCouponCode; isNew: boolean }> {
    const found = await this.find(caller, perkId, customerId);
    if (!found) throw new ApiError('NO_AVAILABLE_CODES');
    const { code, allocated_at, is_new: isNew } = found;
    return {
      allocated: { code, perk_id: perkId, customer_id: customerId, allocated_at: allocated_at.toISOString() },
      isNew,
    };
  }

  private async requireCouponPerk(id: string): Promise<void> {
    const select = { id: true, is_coupon_perk: true };
    const perk = await this.perks.findOne({ select, where: { id } });
    if (!perk) throw new ApiError('PERK_NOT_FOUND');
    if (!perk.is_coupon_perk) throw new ApiError('PERK_HAS_NO_CODES');
  }

  private async find(
    { account }: Caller,
    perkId: string,
    customerId: string,
  ): Promise<Allocation | undefined> {
    const perk = await this.perks.findOne({
      select: { id: true, codes_per_account: true },
      where: { id: perkId },
    });
    const hasQuota = perk?.codes_per_account != null;
    for (let attempt = 1; ; attempt += 1)
      try {
        if (!hasQuota) return await take(this.dataSource, account, perkId, customerId);
        return await this.dataSource.transaction(async (manager) => {
          await manager.query(LOCK_QUOTA, [perkId, account]);
          const [quota] = await manager.query<{ is_past: boolean | null }[]>(IS_PAST_QUOTA, [
            perkId,
            account,
            customerId,
          ]);
          if (quota?.is_past)
            throw new ApiError(
              'NO_AVAILABLE_CODES',
              'The account has used up its codes_per_account of this perk',
            );
          return take(manager, account, perkId, customerId);
        });
      } catch (error) {
        // Another request of the same customer was first; retry and find its code.
        if ((error as { code?: string }).code !== UNIQUE_VIOLATION || attempt === ATTEMPTS) throw error;
      }
  }
}

async function take(
  connection: Pick<EntityManager, 'query'>,
  account: string,
  perkId: string,
  customerId: string,
): Promise<Allocation | undefined> {
  for (const statement of [TAKE_ANY, TAKE_LAST]) {
    const parameters = [perkId, account, customerId, Math.random()];
    const [found] = await connection.query<Allocation[]>(statement, parameters);
    if (found) return found;
  }
  return undefined;
}
