import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the time at which a card was loaded, and the closed months of statements (docs/adr/0044-statements.md).
 *
 * Cards of earlier releases get the start of their load. A load takes whole blocks of 65,536 card ids, in ascending order,
 * so the position of a block among the cards of its pool tells which load it belongs to.
 */
export class Statements1767225690000 implements MigrationInterface {
  readonly name = 'Statements1767225690000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table cards add column loaded_at timestamptz not null default '-infinity';
      alter table cards alter column loaded_at set default now();

      with blocks as (
        select pool_id, block, sum(n) over (partition by pool_id order by block) as position
        from (
          select i.pool_id, c.id / 65536 as block, count(*) as n
          from cards c join inventories i on i.id = c.inventory_id group by 1, 2
        ) counted
      ), loads as (
        select pool_id, started_at, sum(imported) over (partition by pool_id order by started_at, id) as position
        from card_loads where imported > 0
      ), times as (
        select b.block, coalesce(
          (select min(l.started_at) from loads l where l.pool_id = b.pool_id and l.position >= b.position), p.created_at
        ) as loaded_at
        from blocks b join pools p on p.id = b.pool_id
      )
      update cards c set loaded_at = t.loaded_at from times t where t.block = c.id / 65536 and c.loaded_at = '-infinity';

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
