import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateCouponCodes1767225800000 implements MigrationInterface {
  readonly name = 'CreateCouponCodes1767225800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table coupon_codes (
        id bigint generated always as identity primary key,
        perk_id text not null references perks,
        code text not null,
        -- A random number while the code is free. Allocation starts at a random place of the index below, which holds
        -- free codes only, so neither other allocations nor codes already given away stand in its way.
        pick double precision default random(),
        account text,
        customer_id text,
        allocated_at timestamptz,
        unique (perk_id, code),
        check ((pick is null) = (customer_id is not null)),
        check (num_nulls(account, customer_id, allocated_at) in (0, 3))
      );
      create index coupon_codes_free on coupon_codes (perk_id, pick) where pick is not null;
      -- One code per customer makes an allocation idempotent.
      create unique index coupon_codes_customer on coupon_codes (perk_id, account, customer_id)
        where customer_id is not null;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table coupon_codes');
  }
}
