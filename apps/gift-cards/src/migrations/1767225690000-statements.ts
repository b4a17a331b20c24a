import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the time at which a card was loaded, and the closed months of statements (docs/adr/0044-statements.md). */
export class Statements1767225690000 implements MigrationInterface {
  readonly name = 'Statements1767225690000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table cards add column loaded_at timestamptz not null default '-infinity';
      alter table cards alter column loaded_at set default now();

      create table closed_months (
        -- Its first day
        month date primary key,
        closed_at timestamptz not null default now()
      );

      -- For every closed month, the totals of each inventory since its first card, and the account that owned it. Never
      -- updated or deleted.
      create table month_totals (
        month date not null references closed_months,
        inventory_id integer not null,
        account text not null,
        loaded bigint not null,
        revealed bigint not null,
        withdrawn bigint not null,
        generated bigint not null,
        cancelled bigint not null,
        expired bigint not null,
        primary key (month, inventory_id)
      );
      create index month_totals_account on month_totals (account, month)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table month_totals, closed_months;
      alter table cards drop column loaded_at`);
  }
}
