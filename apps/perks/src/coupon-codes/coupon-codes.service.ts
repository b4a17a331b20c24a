import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DomainError, type Caller } from '@perkway/domain';
import { DataSource, Repository } from 'typeorm';
import { PerkEntity } from '../perks/perk.entity.js';
import type { AllocatedCouponCode, CouponCodeStock, LoadedCouponCodes } from './coupon-code.dto.js';

/** In one order, so that two loads of the same codes wait for each other and not in a circle. */
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
 * Finds the customer's code or takes a free one, in one statement: whatever happens in the middle, it is taken as a
 * whole or not at all. `locking` says what to do about codes that others are taking at this moment.
 */
const allocation = (locking: 'for update skip locked' | 'for update') => `
  with own as (
    select id, code, allocated_at from coupon_codes
    where perk_id = $1 and account = $2 and customer_id = $3
  ),
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
/** Waits for codes that may come free again because their taker fails. */
const TAKE_LAST = allocation('for update');

const UNIQUE_VIOLATION = '23505';
/** Only the same customer's other requests can come first, and after one of them the code is there to be found. */
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

  /** Adds codes to a perk's stock. @throws DomainError PERK_NOT_FOUND, PERK_HAS_NO_CODES */
  async load(perkId: string, codes: string[]): Promise<LoadedCouponCodes> {
    await this.requireCouponPerk(perkId);
    const [{ imported }] = await this.dataSource.query<[{ imported: number }]>(LOAD, [perkId, codes]);
    return { imported, duplicates: codes.length - imported };
  }

  /** @throws DomainError PERK_NOT_FOUND, PERK_HAS_NO_CODES */
  async stock(perkId: string): Promise<CouponCodeStock> {
    await this.requireCouponPerk(perkId);
    const [stock] = await this.dataSource.query<[CouponCodeStock]>(STOCK, [perkId]);
    return stock;
  }

  /**
   * The customer's own code. A customer is known by account and perk: asking again gives the same code.
   * @returns `isNew` is false when the customer had it already
   * @throws DomainError NO_AVAILABLE_CODES
   */
  async allocate(
    caller: Caller,
    perkId: string,
    customerId: string,
  ): Promise<{ allocated: AllocatedCouponCode; isNew: boolean }> {
    const found =
      (await this.take(TAKE_ANY, caller, perkId, customerId)) ??
      (await this.take(TAKE_LAST, caller, perkId, customerId));
    if (!found) throw new DomainError('NO_AVAILABLE_CODES');
    const { code, allocated_at, is_new: isNew } = found;
    return {
      allocated: { code, perk_id: perkId, customer_id: customerId, allocated_at: allocated_at.toISOString() },
      isNew,
    };
  }

  private async requireCouponPerk(id: string): Promise<void> {
    const select = { id: true, is_coupon_perk: true };
    const perk = await this.perks.findOne({ select, where: { id } });
    if (!perk) throw new DomainError('PERK_NOT_FOUND');
    if (!perk.is_coupon_perk) throw new DomainError('PERK_HAS_NO_CODES');
  }

  private async take(
    statement: string,
    { account }: Caller,
    perkId: string,
    customerId: string,
  ): Promise<Allocation | undefined> {
    for (let attempt = 1; ; attempt += 1)
      try {
        const parameters = [perkId, account, customerId, Math.random()];
        const [found] = await this.dataSource.query<Allocation[]>(statement, parameters);
        return found;
      } catch (error) {
        // Another request of the same customer was first; its code is found now.
        if ((error as { code?: string }).code !== UNIQUE_VIOLATION || attempt === ATTEMPTS) throw error;
      }
  }
}
